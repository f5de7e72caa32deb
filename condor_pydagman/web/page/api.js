// Asking the server. Each answer is JSON; an error is a sentence, which is shown as it is.

const PATIENCE_MS = 20000;

/** What went wrong; `status` is 0 if the server could not be reached. */
export class ApiError extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }

  /** Whether the server, or the way to it, is away: worth another try. */
  get away() {
    return this.status === 0 || this.status >= 502;
  }
}

async function ask(path, options = {}, patience = PATIENCE_MS) {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), patience);
  try {
    const response = await fetch(path, { ...options, signal: stop.signal, cache: "no-store" });
    const answer = await response.json().catch(() => ({}));
    if (!response.ok) throw new ApiError(response.status, answer.error ?? `the server answered ${response.status}`);
    return answer;
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError(0, stop.signal.aborted ? "the server does not answer" : "the server can't be reached");
  } finally {
    clearTimeout(timer);
  }
}

/** `?a=1&b=2` of what is given. */
function query(parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

/** All DAGs. */
export const dags = () => ask("/api/dags");

/** Questions about one DAG and commands to it. */
export class DagApi {
  constructor(id) {
    this.id = id;
  }

  /** The address of `what`, "" for the overview. */
  path(what, parameters = {}) {
    return `/api/dags/${encodeURIComponent(this.id)}${what && `/${what}`}${query(parameters)}`;
  }

  get(what, parameters, patience) {
    return ask(this.path(what, parameters), {}, patience);
  }

  command(body) {
    return ask(this.path("commands"), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  }
}
