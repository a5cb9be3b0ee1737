import type { ComputerBlock, ComputerStatus } from '../../services/computers/computers.service.ts';
import type { Services } from '../../services/setup/services.ts';
import { readListStatus, type StatusAlias } from '../common/list-status.ts';
import { DEPRECATION } from '../http/deprecation.ts';
import type { Handlers, RequestContext } from '../http/handler.ts';
import { cursorOf, envelope, pageOf } from '../http/request/pagination.ts';
import { JsonText } from '../http/response-bodies.ts';
import type { components } from '../openapi/types.generated.ts';

export function computersRoutes(deps: {
  services: Pick<Services, 'computers' | 'computerEdits'>;
  publicUrl: string;
}): Handlers {
  const { computers, computerEdits } = deps.services;
  return {
    async listComputers(context) {
      const { query } = context;
      const filter = {
        query: (query['query'] as string | undefined) ?? '',
        status: readListStatus(query, ARCHIVED_ONLY, 'active'),
        rootOnly: query['root_only'] !== false,
        wslParents: query['wsl_parents'] === true,
        wslChildren: query['wsl_children'] === true,
        after: cursorOf(context),
        ...pageOf(context),
      };
      const { resultsJson, deprecated, ...page } = await computers.list(context.caller, filter, blocksOf(context));
      const body = envelope(context, deps.publicUrl, { ...page, results: new JsonText(resultsJson) });
      return { body, headers: deprecated ? DEPRECATION : {} };
    },
    async getComputer(context) {
      const id = context.params['computer_id'] as number;
      return { body: new JsonText(await computers.get(context.caller, id, blocksOf(context))) };
    },
    async editComputer({ caller, params, body }) {
      const { title, comment, tags, access_group } = body as components['schemas']['ComputerEdit'];
      const change = {
        title: title ?? undefined,
        comment: comment ?? undefined,
        tags: tags ?? undefined,
        accessGroup: access_group ?? undefined,
      };
      return { body: new JsonText(await computerEdits.edit(caller, params['computer_id'] as number, change)) };
    },
  };
}

const ARCHIVED_ONLY: StatusAlias<ComputerStatus> = {
  name: 'archived_only',
  meaning: { true: 'archived', false: 'active' },
};

const BLOCKS: ReadonlyArray<readonly [parameter: string, block: ComputerBlock]> = [
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

function blocksOf({ query }: RequestContext): ReadonlySet<ComputerBlock> {
  return new Set(BLOCKS.filter(([parameter]) => query[parameter] === true).map(([, block]) => block));
}
