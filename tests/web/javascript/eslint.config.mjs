import js from "@eslint/js";
import globals from "globals";

export default [
  {
    ...js.configs.recommended,
    languageOptions: { globals: globals.browser },
    rules: {
      ...js.configs.recommended.rules,
      "no-control-regex": "off", // names come from strangers: dom.js looks for such characters
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
    },
  },
];
