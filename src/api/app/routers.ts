import type { Router } from 'express';
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
import type { RouteDeps } from '../http/handler.ts';
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

const ROUTES = [
  identityRoutes,
  tokensRoutes,
  accountsRoutes,
  invitationsRoutes,
  administratorsRoutes,
  accessGroupsRoutes,
  computersRoutes,
  computerBulkRoutes,
  alertsRoutes,
  computerRemovalRoutes,
  pendingComputersRoutes,
  tagsRoutes,
  eventsRoutes,
  featuresRoutes,
  messageBacklogRoutes,
  recoveryKeysRoutes,
  kernelsRoutes,
  packagesRoutes,
  powerRoutes,
  processesRoutes,
  savedSearchesRoutes,
  scriptProfilesRoutes,
  scriptsRoutes,
  snapsRoutes,
  activitiesRoutes,
  usgProfilesRoutes,
  usgReportsRoutes,
];

export function createRouters(deps: RouteDeps): Router[] {
  return ROUTES.map((routes) => routes(deps));
}
