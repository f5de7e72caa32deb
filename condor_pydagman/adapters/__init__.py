"""The only code that uses files, processes, clocks, sockets and the schedd: it performs actions of
the engine and delivers its inputs."""
