import { DomainError } from '../domain/errors.ts';
import { type ComputerExtras, findComputer, listComputers } from '../persistence/repositories/computers.repository.ts';
import type { Sql } from '../persistence/sql.ts';
import { prepareComputerQuery } from './computer-queries.ts';
import type { Caller, Clock } from './ports.ts';

export interface ComputersQuery {
  /** Text of the query language; empty for no filter. */
  query: string;
  archivedOnly: boolean;
  rootOnly: boolean;
  wslParents: boolean;
  wslChildren: boolean;
  limit: number;
  offset: number;
}

export interface ComputersPage {
  count: number;
  /** The rows as the text of a JSON array. */
  resultsJson: string;
  /** The query uses a deprecated spelling. */
  deprecated: boolean;
}

export interface ComputersService {
  /**
   * One page of approved computers in the caller's viewable access groups, in id order.
   *
   * @throws {DomainError} InvalidParameterCombination for `wslChildren` with `rootOnly`; InvalidQueryError
   * @see API specification, "Computers"; api-decisions 7.1
   */
  list(caller: Caller, query: ComputersQuery, extras: ComputerExtras): Promise<ComputersPage>;
  /**
   * One computer in detail, archived or not, as JSON text.
   *
   * @throws {DomainError} UnknownComputer when there is none, in another account, or outside the viewable groups
   */
  get(caller: Caller, id: number, extras: ComputerExtras): Promise<string>;
}

export function createComputersService(deps: { db: Sql; clock: Clock }): ComputersService {
  return {
    async list(caller, query, extras) {
      if (query.wslChildren && query.rootOnly) {
        throw new DomainError('InvalidParameterCombination', 'wsl_children needs root_only=false');
      }
      const { accountId } = caller;
      const selection = await prepareComputerQuery(deps, accountId, query.query);
      const filter = { accountId, groups: viewable(caller), archived: query.archivedOnly, selection, ...query };
      return { ...(await listComputers(deps.db, filter, query, extras)), deprecated: selection.deprecated };
    },
    async get(caller, id, extras) {
      const found = await findComputer(deps.db, { accountId: caller.accountId, groups: viewable(caller), id }, extras);
      if (found === null) throw new DomainError('UnknownComputer', 'There is no such computer');
      return found;
    },
  };
}

function viewable(caller: Caller): readonly number[] | null {
  const groups = caller.groups('ViewComputer');
  return groups === 'all' ? null : groups;
}
