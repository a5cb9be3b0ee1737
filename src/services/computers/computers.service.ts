import { DomainError } from '../../domain/common/errors.ts';
import { groupsOf } from '../../persistence/query/group-scope.ts';
import type { ComputerBlock } from '../../persistence/computers/computer-blocks.ts';
import { findComputer, listComputers } from '../../persistence/computers/computers.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { prepareComputerQuery } from '../query/computer-queries.ts';
import type { Caller, Clock } from '../common/ports.ts';

export type { ComputerBlock };

export type ComputerBlocks = ReadonlySet<ComputerBlock>;

/** Whether computers are archived; `all` includes both. */
export type ComputerStatus = 'active' | 'archived' | 'all';

export interface ComputersQuery {
  /** Text of the query language; empty for no filter. */
  query: string;
  status: ComputerStatus;
  rootOnly: boolean;
  wslParents: boolean;
  wslChildren: boolean;
  limit: number;
  offset: number;
  /** The page starts after the computer with this id; null: after `offset` computers. */
  after: number | null;
}

export interface ComputersPage {
  count: number;
  /** The rows as the text of a JSON array. */
  resultsJson: string;
  /** Id after which the next page starts; null on the last page. */
  nextPage: { after: number } | null;
  /** The query uses a deprecated spelling. */
  deprecated: boolean;
}

export interface ComputersService {
  /**
   * One page of approved computers in the caller's viewable access groups, in id order.
   * @throws {DomainError} InvalidParameterCombination for `wslChildren` with `rootOnly`; InvalidQueryError
   * @see docs/api-conventions.md#computer-fields
   */
  list(caller: Caller, query: ComputersQuery, blocks: ComputerBlocks): Promise<ComputersPage>;
  /** One computer in detail, archived or not, as JSON text. @throws {DomainError} UnknownComputer, also if invisible */
  get(caller: Caller, id: number, blocks: ComputerBlocks): Promise<string>;
}

export function createComputersService(deps: { db: Sql; genericPlanDb: Sql; clock: Clock }): ComputersService {
  return {
    async list(caller, query, blocks) {
      if (query.wslChildren && query.rootOnly) {
        throw new DomainError('InvalidParameterCombination', 'wsl_children needs root_only=false');
      }
      const { accountId } = caller;
      const now = deps.clock.now();
      const selection = await prepareComputerQuery(deps, accountId, query.query);
      const filter = { accountId, groups: viewable(caller), selection, ...query };
      return { ...(await listComputers(deps, filter, query, { blocks, now })), deprecated: selection.deprecated };
    },
    async get(caller, id, blocks) {
      const scope = { accountId: caller.accountId, groups: viewable(caller), id };
      const found = await findComputer(deps.genericPlanDb, scope, { blocks, now: deps.clock.now() });
      if (found === null) throw new DomainError('UnknownComputer', 'There is no such computer');
      return found;
    },
  };
}

function viewable(caller: Caller): readonly number[] | null {
  const groups = caller.groups('ViewComputer');
  return groupsOf(groups);
}
