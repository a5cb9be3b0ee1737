import type { Router } from 'express';
import type { ComputerBlock, ComputersQuery } from '../../services/computers/computers.service.ts';
import type { Services } from '../../services/setup/services.ts';
import { readListStatus, type StatusAlias } from '../common/list-status.ts';
import { DEPRECATION } from '../http/deprecation.ts';
import type { Handler, RequestContext, ServeOperation } from '../http/handler.ts';
import { cursorOf, envelope, pageOf } from '../http/request/pagination.ts';
import { JsonText } from '../http/response-bodies.ts';
import { createRouter } from '../http/router.ts';

export function computersRoutes(deps: {
  operation: ServeOperation;
  services: Pick<Services, 'computers' | 'computerEdits'>;
  publicUrl: string;
}): Router {
  const { operation } = deps;
  const { computers, computerEdits } = deps.services;
  const listComputers: Handler<'listComputers'> = async (context) => {
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
    const { resultsJson, deprecated, ...page } = await computers.list(context.caller, filter, blocksOf(context));
    const body = envelope(context, deps.publicUrl, { ...page, results: new JsonText(resultsJson) });
    return { body, headers: deprecated ? DEPRECATION : {} };
  };
  const getComputer: Handler<'getComputer'> = async (context) => {
    const id = context.params.computer_id;
    return { body: new JsonText(await computers.get(context.caller, id, blocksOf(context))) };
  };
  const editComputer: Handler<'editComputer'> = async ({ caller, params, body }) => {
    const { title, comment, tags, access_group } = body;
    const change = {
      title: title ?? undefined,
      comment: comment ?? undefined,
      tags: tags ?? undefined,
      accessGroup: access_group ?? undefined,
    };
    return { body: new JsonText(await computerEdits.edit(caller, params.computer_id, change)) };
  };
  return createRouter()
    .get('/computers', operation('listComputers', listComputers))
    .get('/computers/:computer_id', operation('getComputer', getComputer))
    .put('/computers/:computer_id', operation('editComputer', editComputer));
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
