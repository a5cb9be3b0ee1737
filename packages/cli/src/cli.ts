import type { FlotillaClient } from '@flotilla/client';
import { EXIT, type ExitCode } from './errors.ts';
import { type Format, Output } from './output/output.ts';
import { type Connection, chooseConnection } from './servers/connection.ts';
import { readServers, serverFilePath } from './servers/server-file.ts';

/** What the program has from the process around it. */
export interface Runtime {
  env: NodeJS.ProcessEnv;
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
}

/** Options that every command takes. */
export interface GlobalOptions {
  server?: string | undefined;
  output: Format;
}

/** What commands share: where they write, and the server that they use. */
export class Cli {
  readonly runtime: Runtime;
  /** What the program ends with unless an error is thrown. */
  exitCode: ExitCode = EXIT.succeeded;
  #options: GlobalOptions = { output: 'table' };
  #connection: Connection | null = null;

  constructor(runtime: Runtime) {
    this.runtime = runtime;
  }

  /** Takes the options of the command line, before the command runs. */
  configure(options: GlobalOptions): void {
    this.#options = options;
  }

  get output(): Output {
    return new Output(this.runtime.stdout, this.runtime.stderr, this.#options.output);
  }

  get serverFile(): string {
    return serverFilePath(this.runtime.env);
  }

  /** The address of the server that this run uses; null before the first request. */
  get url(): string | null {
    return this.#connection?.url ?? null;
  }

  /** Whether there is a terminal to prompt on. */
  get isInteractive(): boolean {
    return this.runtime.stdin.isTTY === true && this.runtime.stderr.isTTY === true;
  }

  /** @throws {CliError} without a login */
  async connection(): Promise<Connection> {
    this.#connection ??= chooseConnection(await readServers(this.serverFile), this.runtime.env, this.#options.server);
    return this.#connection;
  }

  /** A client of the chosen server. @throws {CliError} without a login */
  async client(): Promise<FlotillaClient> {
    return this.clientOf(await this.connection());
  }

  async clientOf(connection: Connection): Promise<FlotillaClient> {
    this.#connection = connection;
    const { createClient } = await import('@flotilla/client');
    return createClient({ ...connection, userAgent: 'flotilla-cli' });
  }
}
