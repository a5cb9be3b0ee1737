import { DomainError } from '../../domain/common/errors.ts';

/** An older name of the parameter `status`: what its values mean. */
export interface StatusAlias<S extends string> {
  name: string;
  /** By the value as text. */
  meaning: Readonly<Record<string, S>>;
}

/**
 * The state that a list is narrowed to, by `status` or by its older name.
 *
 * @param usual - where neither is given
 * @throws {DomainError} InvalidParameterCombination when the two contradict each other
 */
export function readListStatus<S extends string>(query: Record<string, unknown>, alias: StatusAlias<S>, usual: S): S {
  const status = query['status'] as S | undefined;
  const given = query[alias.name];
  if (given === undefined) return status ?? usual;
  const meant = alias.meaning[String(given)]!;
  if (status === undefined || status === meant) return meant;
  const message = `means status=${meant}, and status is ${status}`;
  throw new DomainError('InvalidParameterCombination', `${alias.name}=${String(given)} ${message}`, {
    details: [{ path: `query.${alias.name}`, message }],
  });
}
