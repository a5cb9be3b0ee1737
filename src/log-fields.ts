import { AsyncLocalStorage } from 'node:async_hooks';

/** What lines of the log say besides their own words: which request, workflow, lane they are about. */
export type LogFields = Readonly<Record<string, string | number>>;

const fields = new AsyncLocalStorage<LogFields>();

/** Runs `work`, whose lines of the log carry these fields, within what applies already. */
export function withLogFields<T>(added: LogFields, work: () => T): T {
  return fields.run({ ...fields.getStore(), ...added }, work);
}

/** The fields that apply here. */
export function currentLogFields(): LogFields | undefined {
  return fields.getStore();
}
