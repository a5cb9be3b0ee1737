import type { ComputerBlock, ComputersQuery } from '../../services/computers/computers.service.ts';
import { readListStatus, type StatusAlias } from '../common/list-status.ts';
import { type Handlers, JsonText, type RequestContext, type Services } from '../http/handler.ts';
import { DEPRECATION } from '../http/middleware/normalize-path.ts';
import { conditional } from '../http/request/conditional.ts';
import { cursorOf, jsonEnvelope, pageOf } from '../http/request/pagination.ts';

export function computersHandlers({ computers, computerMap, computerEdits }: Services) {
  return {
    listComputers: async (context) => {
      const { query } = context;
      const filter = {
        query: query.query ?? '',
        status: readListStatus(query, ARCHIVED_ONLY, 'active'),
        rootOnly: query.root_only !== false,
        wslParents: query.wsl_parents === true,
        wslChildren: query.wsl_children === true,
        after: cursorOf(context),
        ...pageOf(context),
      };
      const page = await computers.list(context.caller, filter, blocksOf(context));
      if (page.deprecated) context.response.set(DEPRECATION);
      return jsonEnvelope(context, page);
    },
    getComputerMap: async ({ caller, query, response }) => {
      const { query: text = '', root_only: rootOnly = true, color = 'state', group: grouping = 'none' } = query;
      const map = await computerMap.read(caller, { query: text, rootOnly, color, grouping });
      if (map.deprecated) response.set(DEPRECATION);
      return new JsonText(map.json);
    },
    getComputer: (context) => {
      const { caller, params } = context;
      const blocks = blocksOf(context);
      const read = (known: readonly string[] | null) => computers.get(caller, params.computer_id, blocks, known);
      return conditional(context, read, (text) => new JsonText(text));
    },
    editComputer: async ({ caller, params, body }) => {
      const { title, comment, tags, access_group } = body;
      const change = {
        title: title ?? undefined,
        comment: comment ?? undefined,
        tags: tags ?? undefined,
        accessGroup: access_group ?? undefined,
      };
      return new JsonText(await computerEdits.edit(caller, params.computer_id, change));
    },
  } satisfies Handlers;
}

const ARCHIVED_ONLY: StatusAlias<ComputersQuery['status'], 'archived_only'> = {
  name: 'archived_only',
  meaning: { true: 'archived', false: 'active' },
};

const BLOCKS: ReadonlyArray<readonly [keyof RequestContext<'getComputer'>['query'], ComputerBlock]> = [
  ['with_alerts', 'alerts'],
  ['with_upgrades', 'upgrades'],
  ['with_release_upgrades', 'releaseUpgrades'],
  ['with_reboot_packages', 'rebootPackages'],
  ['with_network', 'network'],
  ['with_all_network', 'allNetwork'],
  ['with_hardware', 'hardware'],
  ['with_annotations', 'annotations'],
  ['with_grouped_hardware', 'groupedHardware'],
  ['with_profiles', 'profiles'],
  ['with_wsl_profiles', 'wslProfiles'],
];

function blocksOf({ query }: RequestContext<'listComputers' | 'getComputer'>): ReadonlySet<ComputerBlock> {
  return new Set(BLOCKS.filter(([parameter]) => query[parameter] === true).map(([, block]) => block));
}
