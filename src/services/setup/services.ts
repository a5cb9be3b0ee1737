import type { Config } from '../../process/config.ts';
import type { Logger } from '../../process/logger.ts';
import type { Persistence } from '../../persistence/orm/orm.ts';
import { createAccessGroupsService } from '../identity/access-groups.service.ts';
import { createAccountsService } from '../identity/accounts.service.ts';
import { createActivitiesService } from '../activities/activities.service.ts';
import { createActivityProgressService } from '../activities/activity-progress.service.ts';
import { createActivityStoryService } from '../activities/activity-story.service.ts';
import { createActivityWaits } from '../activities/activity-waits.ts';
import { createActivityRepeatsService } from '../engine/activity-repeats.service.ts';
import { createAdministratorsService } from '../identity/administrators.service.ts';
import { createAlertsService } from '../events/alerts.service.ts';
import { createAuthenticator } from '../identity/login/authenticator.ts';
import { createComputerBulkService } from '../computers/computer-bulk.service.ts';
import { createComputerMapService } from '../computers/computer-map.service.ts';
import { createComputerEditsService } from '../computers/computer-edits.service.ts';
import { createComputerRemovalService } from '../computers/computer-removal.service.ts';
import { createComputerUsersService } from '../computers/computer-users.service.ts';
import { createComputersService } from '../computers/computers.service.ts';
import { createCredentialsService } from '../identity/login/credentials.service.ts';
import { createEmailChangesService } from '../identity/email-changes.service.ts';
import { createEventFeedService } from '../events/event-feed.service.ts';
import { createEventHub } from '../events/event-hub.ts';
import { createEventsService } from '../events/events.service.ts';
import { listFeatures } from '../identity/features.ts';
import { createDatabaseFileStore } from '../common/files.ts';
import { createHashing } from '../common/hashing.ts';
import { createInvitationsService } from '../identity/invitations.service.ts';
import { createKernelsService } from '../software/kernels.service.ts';
import { createLoginService } from '../identity/login/login.service.ts';
import { createLoginThrottle } from '../identity/login/login-throttle.ts';
import { createMailer } from '../identity/mailer.ts';
import { createMessageBacklogService } from '../activities/message-backlog.service.ts';
import { createPackagesService } from '../software/packages.service.ts';
import { createPamAuthenticator, pamCommand } from '../identity/pam/pam.ts';
import { createPasswordService } from '../identity/login/password-change.service.ts';
import { createPendingComputersService } from '../computers/pending-computers.service.ts';
import { createPeopleService } from '../identity/people.service.ts';
import type { Clock, TemporalHealth } from '../common/ports.ts';
import { createPowerService } from '../computers/power.service.ts';
import { createPreferencesService } from '../identity/preferences.service.ts';
import { createProcessesService } from '../computers/processes.service.ts';
import { createReadiness } from './readiness.service.ts';
import { createRecoveryKeysService } from '../computers/recovery-keys.service.ts';
import { createRolesService } from '../identity/roles.service.ts';
import { createSavedSearchesService } from '../computers/saved-searches.service.ts';
import { createScriptProfilesService } from '../scripts/profiles/script-profiles.service.ts';
import { createScriptsService } from '../scripts/scripts.service.ts';
import { createSnapsService } from '../software/snaps.service.ts';
import { createTagsService } from '../computers/tags.service.ts';
import { createTokenSigner } from '../identity/login/token-signer.ts';
import { createTokensService } from '../identity/login/tokens.service.ts';
import { createUsgProfilesService } from '../compliance/profiles/usg-profiles.service.ts';
import { createUsgReportsService } from '../compliance/reports/usg-reports.service.ts';
import { createWebhooksService } from '../events/webhooks.service.ts';

export type Services = ReturnType<typeof createServices>;

interface ServicesDeps {
  persistence: Persistence;
  temporal: TemporalHealth;
  clock: Clock;
  /** The first signs tokens; all verify them. */
  jwtSecrets: readonly string[];
  /** Logs failures of mail and PAM, without their content. */
  logger?: Logger;
  settings: Pick<Config, 'activities' | 'deployment' | 'encryptionKeys' | 'identity' | 'publicUrl' | 'scriptProfiles'> &
    Pick<Config, 'mailFrom' | 'smtpUrl' | 'temporalUiUrl' | 'version' | 'webPage' | 'webhookPrivateAddresses'>;
}

/** The services of one process; they share the authenticator, the throttle and the mailer. */
export function createServices(deps: ServicesDeps) {
  const { persistence, clock, settings, logger } = deps;
  const { db, genericPlanDb } = persistence;
  const { identity, publicUrl } = settings;
  const { selfServiceAccounts: selfService, passwords, setupToken, invitationDays, pam } = identity;
  const tokenSigner = createTokenSigner(deps.jwtSecrets, clock);
  const authenticator = createAuthenticator({ db, tokenSigner, clock });
  const hashing = createHashing();
  const throttle = createLoginThrottle(db, clock, identity.loginThrottle);
  const identities = pam && createPamAuthenticator({ ...pam, command: pamCommand(pam), logger });
  const mailer = createMailer({ smtpUrl: settings.smtpUrl, from: settings.mailFrom, logger });
  const files = createDatabaseFileStore(db);
  const login = { db, clock, tokenSigner, authenticator, hashing, throttle, identities, passwords };
  const mailing = { db, clock, mailer, authenticator, publicUrl, webPage: settings.webPage };
  const hub = createEventHub({ db, logger });
  const acting = { db, clock, settings: settings.activities, publicUrl };
  return {
    authenticator,
    readiness: createReadiness({ persistence, temporal: deps.temporal }),
    accounts: createAccountsService({ ...login, selfService, setupToken }),
    login: createLoginService(login),
    loginMethods: { pam: pam !== null },
    features: listFeatures(settings),
    server: { version: settings.version, temporalUiUrl: settings.temporalUiUrl },
    tokens: createTokensService(login),
    passwords: createPasswordService(login),
    credentials: createCredentialsService(login),
    preferences: createPreferencesService({ db }),
    emailChanges: createEmailChangesService(mailing),
    people: createPeopleService(mailing),
    invitations: createInvitationsService({ ...mailing, throttle, invitationDays }),
    administrators: createAdministratorsService({ db, authenticator }),
    roles: createRolesService({ db, authenticator }),
    accessGroups: createAccessGroupsService({ db, authenticator }),
    computers: createComputersService({ db, genericPlanDb, clock }),
    computerMap: createComputerMapService({ db, clock }),
    computerEdits: createComputerEditsService({ db }),
    alerts: createAlertsService({ db }),
    computerBulk: createComputerBulkService({ db, clock }),
    computerRemoval: createComputerRemovalService(acting),
    pendingComputers: createPendingComputersService({ ...acting, limits: settings.scriptProfiles }),
    tags: createTagsService({ db }),
    savedSearches: createSavedSearchesService({ db }),
    events: createEventsService({ db }),
    eventHub: hub,
    eventFeed: createEventFeedService({ db, clock, hub, authenticator }),
    webhooks: createWebhooksService({
      db,
      clock,
      encryptionKeys: settings.encryptionKeys,
      privateAddresses: settings.webhookPrivateAddresses,
    }),
    messageBacklog: createMessageBacklogService({ db }),
    recoveryKeys: createRecoveryKeysService({ ...acting, encryptionKeys: settings.encryptionKeys }),
    scriptProfiles: createScriptProfilesService({ ...acting, limits: settings.scriptProfiles }),
    scripts: createScriptsService(acting),
    snaps: createSnapsService(acting),
    kernels: createKernelsService(acting),
    packages: createPackagesService(acting),
    processes: createProcessesService(acting),
    computerUsers: createComputerUsersService({ db }),
    power: createPowerService(acting),
    activities: createActivitiesService({ db, genericPlanDb, clock }),
    activityProgress: createActivityProgressService({ db, clock, hub, authenticator }),
    activityStory: createActivityStoryService({ db, clock }),
    activityWaits: createActivityWaits({ genericPlanDb, clock, hub }),
    activityRepeats: createActivityRepeatsService(acting),
    usgProfiles: createUsgProfilesService({ ...acting, files }),
    usgReports: createUsgReportsService({ db, clock, files }),
  };
}
