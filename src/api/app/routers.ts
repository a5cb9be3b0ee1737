import type { Router } from 'express';
import type { Services } from '../../services/setup/services.ts';
import { activitiesRoutes } from '../activities/activities.routes.ts';
import { messageBacklogRoutes } from '../activities/message-backlog.routes.ts';
import { usgProfilesRoutes } from '../compliance/usg-profiles.routes.ts';
import { usgReportsRoutes } from '../compliance/usg-reports.routes.ts';
import { computerBulkRoutes } from '../computers/computer-bulk.routes.ts';
import { computerRemovalRoutes } from '../computers/computer-removal.routes.ts';
import { computersRoutes } from '../computers/computers.routes.ts';
import { pendingComputersRoutes } from '../computers/pending-computers.routes.ts';
import { powerRoutes } from '../computers/power.routes.ts';
import { processesRoutes } from '../computers/processes.routes.ts';
import { recoveryKeysRoutes } from '../computers/recovery-keys.routes.ts';
import { savedSearchesRoutes } from '../computers/saved-searches.routes.ts';
import { tagsRoutes } from '../computers/tags.routes.ts';
import { alertsRoutes } from '../events/alerts.routes.ts';
import { eventsRoutes } from '../events/events.routes.ts';
import type { ServeOperation } from '../http/handler.ts';
import { accessGroupsRoutes } from '../identity/access-groups.routes.ts';
import { accountsRoutes } from '../identity/accounts.routes.ts';
import { administratorsRoutes } from '../identity/administrators.routes.ts';
import { featuresRoutes } from '../identity/features.routes.ts';
import { identityRoutes } from '../identity/identity.routes.ts';
import { invitationsRoutes } from '../identity/invitations.routes.ts';
import { tokensRoutes } from '../identity/tokens.routes.ts';
import { scriptProfilesRoutes } from '../scripts/script-profiles.routes.ts';
import { scriptsRoutes } from '../scripts/scripts.routes.ts';
import { kernelsRoutes } from '../software/kernels.routes.ts';
import { packagesRoutes } from '../software/packages.routes.ts';
import { snapsRoutes } from '../software/snaps.routes.ts';

export interface RouterDeps {
  operation: ServeOperation;
  services: Services;
  /** Base of absolute links, without a trailing slash. */
  publicUrl: string;
}

/** The routers of all areas. */
export function createRouters(deps: RouterDeps): Router[] {
  return [
    identityRoutes(deps),
    tokensRoutes(deps),
    accountsRoutes(deps),
    invitationsRoutes(deps),
    administratorsRoutes(deps),
    accessGroupsRoutes(deps),
    computersRoutes(deps),
    computerBulkRoutes(deps),
    alertsRoutes(deps),
    computerRemovalRoutes(deps),
    pendingComputersRoutes(deps),
    tagsRoutes(deps),
    eventsRoutes(deps),
    featuresRoutes(deps),
    messageBacklogRoutes(deps),
    recoveryKeysRoutes(deps),
    kernelsRoutes(deps),
    packagesRoutes(deps),
    powerRoutes(deps),
    processesRoutes(deps),
    savedSearchesRoutes(deps),
    scriptProfilesRoutes(deps),
    scriptsRoutes(deps),
    snapsRoutes(deps),
    activitiesRoutes(deps),
    usgProfilesRoutes(deps),
    usgReportsRoutes(deps),
  ];
}
