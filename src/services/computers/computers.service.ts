import { DomainError } from '../../domain/common/errors.ts';
import type { ComputerBlock } from '../../persistence/computers/computer-blocks.ts';
import {
  type ComputerFilter,
  type ComputerPage,
  findTaggedComputer,
  listComputers,
} from '../../persistence/computers/computers.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { groupsOf } from '../../persistence/query/group-scope.ts';
import type { Tagged } from '../common/conditional.ts';
import type { Caller, Clock } from '../common/ports.ts';
import { prepareComputerQuery } from '../query/computer-queries.ts';

export type { ComputerBlock };

type ComputerBlocks = ReadonlySet<ComputerBlock>;

export interface ComputersQuery extends Omit<ComputerFilter, 'accountId' | 'groups' | 'selection'>, ComputerPage {
  query: string;
}

export function createComputersService(deps: { db: Sql; genericPlanDb: Sql; clock: Clock }) {
  const named = new Set<string>();
  const viewOf = (blocks: ComputerBlocks) => ({ blocks, now: deps.clock.now(), named });
  return {
    /**
     * `deprecated`: the query uses a deprecated spelling. @throws {DomainError} InvalidQueryError;
     * InvalidParameterCombination for `wslChildren` with `rootOnly` @see docs/api-conventions.md#computer-fields
     */
    async list(caller: Caller, query: ComputersQuery, blocks: ComputerBlocks) {
      if (query.wslChildren && query.rootOnly) {
        throw new DomainError('InvalidParameterCombination', 'wsl_children needs root_only=false');
      }
      const { accountId } = caller;
      const selection = await prepareComputerQuery(deps, accountId, query.query);
      const filter = { accountId, groups: viewable(caller), selection, ...query };
      return { ...(await listComputers(deps, filter, query, viewOf(blocks))), deprecated: selection.deprecated };
    },
    /**
     * One computer in detail, archived or not, as JSON text; null when its entity tag is a `known` one.
     * @throws {DomainError} UnknownComputer
     */
    async get(
      caller: Caller,
      id: number,
      blocks: ComputerBlocks,
      known: readonly string[] | null,
    ): Promise<Tagged<string>> {
      const scope = { accountId: caller.accountId, groups: viewable(caller), id };
      const found = await findTaggedComputer(deps.genericPlanDb, scope, viewOf(blocks), known);
      if (found === null) throw new DomainError('UnknownComputer', 'There is no such computer');
      return found;
    },
  };
}

function viewable(caller: Caller): readonly number[] | null {
  return groupsOf(caller.groups('ViewComputer'));
}
