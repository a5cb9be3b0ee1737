import type { Services } from '../services/services.ts';
import type { Handlers } from './handler.ts';
import { accessGroupsRoutes } from './routes/access-groups.routes.ts';
import { accountsRoutes } from './routes/accounts.routes.ts';
import { activitiesRoutes } from './routes/activities.routes.ts';
import { administratorsRoutes } from './routes/administrators.routes.ts';
import { alertsRoutes } from './routes/alerts.routes.ts';
import { computerBulkRoutes } from './routes/computer-bulk.routes.ts';
import { computerRemovalRoutes } from './routes/computer-removal.routes.ts';
import { computersRoutes } from './routes/computers.routes.ts';
import { eventsRoutes } from './routes/events.routes.ts';
import { featuresRoutes } from './routes/features.routes.ts';
import { identityRoutes } from './routes/identity.routes.ts';
import { invitationsRoutes } from './routes/invitations.routes.ts';
import { kernelsRoutes } from './routes/kernels.routes.ts';
import { messageBacklogRoutes } from './routes/message-backlog.routes.ts';
import { packagesRoutes } from './routes/packages.routes.ts';
import { pendingComputersRoutes } from './routes/pending-computers.routes.ts';
import { powerRoutes } from './routes/power.routes.ts';
import { processesRoutes } from './routes/processes.routes.ts';
import { recoveryKeysRoutes } from './routes/recovery-keys.routes.ts';
import { savedSearchesRoutes } from './routes/saved-searches.routes.ts';
import { scriptProfilesRoutes } from './routes/script-profiles.routes.ts';
import { scriptsRoutes } from './routes/scripts.routes.ts';
import { snapsRoutes } from './routes/snaps.routes.ts';
import { tagsRoutes } from './routes/tags.routes.ts';
import { tokensRoutes } from './routes/tokens.routes.ts';
import { usgProfilesRoutes } from './routes/usg-profiles.routes.ts';
import { usgReportsRoutes } from './routes/usg-reports.routes.ts';

/** What handlers are made of. */
export interface HandlerDeps {
  services: Services;
  /** Base of absolute links, without a trailing slash. */
  publicUrl: string;
}

/** The handlers of every operation of the document. */
export function createHandlers(deps: HandlerDeps): Handlers {
  return {
    ...identityRoutes(deps),
    ...tokensRoutes(deps),
    ...accountsRoutes(deps),
    ...invitationsRoutes(deps),
    ...administratorsRoutes(deps),
    ...accessGroupsRoutes(deps),
    ...computersRoutes(deps),
    ...computerBulkRoutes(deps),
    ...alertsRoutes(deps),
    ...computerRemovalRoutes(deps),
    ...pendingComputersRoutes(deps),
    ...tagsRoutes(deps),
    ...eventsRoutes(deps),
    ...featuresRoutes(deps),
    ...messageBacklogRoutes(deps),
    ...recoveryKeysRoutes(deps),
    ...kernelsRoutes(deps),
    ...packagesRoutes(deps),
    ...powerRoutes(deps),
    ...processesRoutes(deps),
    ...savedSearchesRoutes(deps),
    ...scriptProfilesRoutes(deps),
    ...scriptsRoutes(deps),
    ...snapsRoutes(deps),
    ...activitiesRoutes(deps),
    ...usgProfilesRoutes(deps),
    ...usgReportsRoutes(deps),
  };
}
