import { DomainError } from '../../domain/common/errors.ts';

export interface StatusAlias<S extends string, Name extends string> {
  name: Name;
  meaning: Readonly<Record<string, S>>;
}

/** @throws {DomainError} InvalidParameterCombination when `status` and its older name contradict each other */
export function readListStatus<S extends string, Name extends string>(
  query: { status?: S } & { [K in Name]?: string | boolean },
  alias: StatusAlias<S, Name>,
  fallback: S,
): S {
  const { status } = query;
  const given: string | boolean | undefined = query[alias.name];
  if (given === undefined) return status ?? fallback;
  const meant = alias.meaning[String(given)]!;
  if (status === undefined || status === meant) return meant;
  const message = `means status=${meant}, but status is ${status}`;
  throw new DomainError('InvalidParameterCombination', `${alias.name}=${String(given)} ${message}`, {
    details: [{ path: `query.${alias.name}`, message }],
  });
}
