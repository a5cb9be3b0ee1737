import { activitiesHandlers } from '../activities/activities.handlers.ts';
import { activityStoryHandlers } from '../activities/activity-story.handlers.ts';
import { messageBacklogHandlers } from '../activities/message-backlog.handlers.ts';
import { usgHistoryHandlers } from '../compliance/usg-history.handlers.ts';
import { usgProfilesHandlers } from '../compliance/usg-profiles.handlers.ts';
import { usgReportsHandlers } from '../compliance/usg-reports.handlers.ts';
import { computerBulkHandlers } from '../computers/computer-bulk.handlers.ts';
import { computerRemovalHandlers } from '../computers/computer-removal.handlers.ts';
import { computerUsersHandlers } from '../computers/computer-users.handlers.ts';
import { computersHandlers } from '../computers/computers.handlers.ts';
import { pendingComputersHandlers } from '../computers/pending-computers.handlers.ts';
import { powerHandlers } from '../computers/power.handlers.ts';
import { processesHandlers } from '../computers/processes.handlers.ts';
import { recoveryKeysHandlers } from '../computers/recovery-keys.handlers.ts';
import { savedSearchesHandlers } from '../computers/saved-searches.handlers.ts';
import { tagsHandlers } from '../computers/tags.handlers.ts';
import { alertsHandlers } from '../events/alerts.handlers.ts';
import { eventsHandlers } from '../events/events.handlers.ts';
import { webhooksHandlers } from '../events/webhooks.handlers.ts';
import type { Handlers, Services } from '../http/handler.ts';
import { accessGroupsHandlers } from '../identity/access-groups.handlers.ts';
import { accountsHandlers } from '../identity/accounts.handlers.ts';
import { administratorsHandlers } from '../identity/administrators.handlers.ts';
import { featuresHandlers } from '../identity/features.handlers.ts';
import { identityHandlers } from '../identity/identity.handlers.ts';
import { invitationsHandlers } from '../identity/invitations.handlers.ts';
import { serverHandlers } from '../identity/server.handlers.ts';
import { tokensHandlers } from '../identity/tokens.handlers.ts';
import { scriptProfilesHandlers } from '../scripts/script-profiles.handlers.ts';
import { scriptsHandlers } from '../scripts/scripts.handlers.ts';
import { kernelsHandlers } from '../software/kernels.handlers.ts';
import { packagesHandlers } from '../software/packages.handlers.ts';
import { snapsHandlers } from '../software/snaps.handlers.ts';

/** Every operation of the document has a handler: its type ensures this. */
export function createHandlers(services: Services): Required<Handlers> {
  return {
    ...identityHandlers(services),
    ...tokensHandlers(services),
    ...accountsHandlers(services),
    ...invitationsHandlers(services),
    ...administratorsHandlers(services),
    ...accessGroupsHandlers(services),
    ...computersHandlers(services),
    ...computerBulkHandlers(services),
    ...alertsHandlers(services),
    ...computerRemovalHandlers(services),
    ...pendingComputersHandlers(services),
    ...tagsHandlers(services),
    ...eventsHandlers(services),
    ...webhooksHandlers(services),
    ...featuresHandlers(services),
    ...serverHandlers(services),
    ...messageBacklogHandlers(services),
    ...recoveryKeysHandlers(services),
    ...kernelsHandlers(services),
    ...packagesHandlers(services),
    ...powerHandlers(services),
    ...processesHandlers(services),
    ...computerUsersHandlers(services),
    ...savedSearchesHandlers(services),
    ...scriptProfilesHandlers(services),
    ...scriptsHandlers(services),
    ...snapsHandlers(services),
    ...activitiesHandlers(services),
    ...usgHistoryHandlers(services),
    ...activityStoryHandlers(services),
    ...usgProfilesHandlers(services),
    ...usgReportsHandlers(services),
  };
}
