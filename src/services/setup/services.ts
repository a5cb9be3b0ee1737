import type { Config } from '../../process/config.ts';
import type { Logger } from '../../process/logger.ts';
import type { Persistence } from '../../persistence/orm/orm.ts';
import { type AccessGroupsService, createAccessGroupsService } from '../identity/access-groups.service.ts';
import { type AccountsService, createAccountsService } from '../identity/accounts.service.ts';
import { type ActivitiesService, createActivitiesService } from '../activities/activities.service.ts';
import { type ActivityRepeatsService, createActivityRepeatsService } from '../engine/activity-repeats.service.ts';
import { type AdministratorsService, createAdministratorsService } from '../identity/administrators.service.ts';
import { type AlertsService, createAlertsService } from '../events/alerts.service.ts';
import { type Authenticator, createAuthenticator } from '../identity/login/authenticator.ts';
import { type ComputerBulkService, createComputerBulkService } from '../computers/computer-bulk.service.ts';
import { type ComputerEditsService, createComputerEditsService } from '../computers/computer-edits.service.ts';
import { type ComputerRemovalService, createComputerRemovalService } from '../computers/computer-removal.service.ts';
import { type ComputersService, createComputersService } from '../computers/computers.service.ts';
import { type CredentialsService, createCredentialsService } from '../identity/login/credentials.service.ts';
import { createEmailChangesService, type EmailChangesService } from '../identity/email-changes.service.ts';
import { createEventsService, type EventsService } from '../events/events.service.ts';
import { type Feature, listFeatures } from '../identity/features.ts';
import { createDatabaseFileStore } from '../common/files.ts';
import { createHashing } from '../common/hashing.ts';
import { createInvitationGuard } from '../identity/invitation-guard.ts';
import { createInvitationsService, type InvitationsService } from '../identity/invitations.service.ts';
import { createKernelsService, type KernelsService } from '../software/kernels.service.ts';
import { createLoginService, type LoginService } from '../identity/login/login.service.ts';
import { LoginThrottle } from '../identity/login/login-throttle.ts';
import { createMailer } from '../identity/mailer.ts';
import { createMessageBacklogService, type MessageBacklogService } from '../activities/message-backlog.service.ts';
import { createPackagesService, type PackagesService } from '../software/packages.service.ts';
import { createPamAuthenticator, pamCommand } from '../identity/pam/pam.ts';
import { createPasswordService, type PasswordService } from '../identity/login/password-change.service.ts';
import { createPendingComputersService, type PendingComputersService } from '../computers/pending-computers.service.ts';
import { createPeopleService, type PeopleService } from '../identity/people.service.ts';
import type { Clock, IdentityAuthenticator, Mailer, TemporalHealth } from '../common/ports.ts';
import { createPowerService, type PowerService } from '../computers/power.service.ts';
import { createPreferencesService, type PreferencesService } from '../identity/preferences.service.ts';
import { createProcessesService, type ProcessesService } from '../computers/processes.service.ts';
import { createReadiness, type Readiness } from './readiness.service.ts';
import { createRecoveryKeysService, type RecoveryKeysService } from '../computers/recovery-keys.service.ts';
import { createRolesService, type RolesService } from '../identity/roles.service.ts';
import { createSavedSearchesService, type SavedSearchesService } from '../computers/saved-searches.service.ts';
import {
  createScriptProfilesService,
  type ScriptProfilesService,
} from '../scripts/profiles/script-profiles.service.ts';
import { createScriptsService, type ScriptsService } from '../scripts/scripts.service.ts';
import { createSnapsService, type SnapsService } from '../software/snaps.service.ts';
import { createTagsService, type TagsService } from '../computers/tags.service.ts';
import { createTokenSigner } from '../identity/login/token-signer.ts';
import { createTokensService, type TokensService } from '../identity/login/tokens.service.ts';
import { createUsgProfilesService, type UsgProfilesService } from '../compliance/profiles/usg-profiles.service.ts';
import { createUsgReportsService, type UsgReportsService } from '../compliance/reports/usg-reports.service.ts';

export interface Services {
  authenticator: Authenticator;
  readiness: Readiness;
  accounts: AccountsService;
  login: LoginService;
  loginMethods: { pam: boolean };
  features: readonly Feature[];
  tokens: TokensService;
  passwords: PasswordService;
  credentials: CredentialsService;
  preferences: PreferencesService;
  emailChanges: EmailChangesService;
  people: PeopleService;
  invitations: InvitationsService;
  administrators: AdministratorsService;
  roles: RolesService;
  accessGroups: AccessGroupsService;
  computers: ComputersService;
  computerEdits: ComputerEditsService;
  alerts: AlertsService;
  computerBulk: ComputerBulkService;
  computerRemoval: ComputerRemovalService;
  pendingComputers: PendingComputersService;
  tags: TagsService;
  savedSearches: SavedSearchesService;
  events: EventsService;
  messageBacklog: MessageBacklogService;
  recoveryKeys: RecoveryKeysService;
  scriptProfiles: ScriptProfilesService;
  scripts: ScriptsService;
  snaps: SnapsService;
  kernels: KernelsService;
  packages: PackagesService;
  processes: ProcessesService;
  power: PowerService;
  activities: ActivitiesService;
  activityRepeats: ActivityRepeatsService;
  usgProfiles: UsgProfilesService;
  usgReports: UsgReportsService;
}

export interface ServicesDeps {
  persistence: Persistence;
  temporal: TemporalHealth;
  clock: Clock;
  /** The first signs tokens; all verify them. */
  jwtSecrets: readonly string[];
  /** Logs failures of mail and PAM, without their content. */
  logger?: Logger;
  settings: Pick<
    Config,
    | 'activities'
    | 'deployment'
    | 'encryptionKeys'
    | 'identity'
    | 'mailFrom'
    | 'publicUrl'
    | 'scriptProfiles'
    | 'smtpUrl'
  >;
}

export function createServices(deps: ServicesDeps): Services {
  const { persistence, clock, settings, logger } = deps;
  const { db } = persistence;
  const { selfServiceAccounts: selfService, passwords, setupToken } = settings.identity;
  const acting = { db, clock, settings: settings.activities };
  const tokenSigner = createTokenSigner(deps.jwtSecrets, clock);
  const authenticator = createAuthenticator({ db, tokenSigner, clock });
  const hashing = createHashing();
  const throttle = new LoginThrottle(db, clock, settings.identity.loginThrottle);
  const invitationGuard = createInvitationGuard({ throttle });
  const identities = createIdentities(settings, logger);
  const files = createDatabaseFileStore(db);
  const mailer: Mailer = createMailer({ smtpUrl: settings.smtpUrl, from: settings.mailFrom, logger });
  return {
    authenticator,
    readiness: createReadiness({ persistence, temporal: deps.temporal }),
    accounts: createAccountsService({ db, hashing, throttle, selfService, passwords, setupToken }),
    login: createLoginService({
      db,
      tokenSigner,
      clock,
      hashing,
      throttle,
      invitationGuard,
      authenticator,
      identities,
      passwords,
    }),
    loginMethods: { pam: settings.identity.pam !== null },
    features: listFeatures(settings),
    tokens: createTokensService({ db, tokenSigner, authenticator, clock }),
    passwords: createPasswordService({ db, hashing, throttle, authenticator, passwords }),
    credentials: createCredentialsService({ db, clock, hashing, throttle, identities }),
    preferences: createPreferencesService({ db }),
    emailChanges: createEmailChangesService({ db, clock, mailer, authenticator, publicUrl: settings.publicUrl }),
    people: createPeopleService({ db, clock, mailer, authenticator, publicUrl: settings.publicUrl }),
    invitations: createInvitationsService({
      db,
      clock,
      mailer,
      authenticator,
      guard: invitationGuard,
      publicUrl: settings.publicUrl,
      invitationDays: settings.identity.invitationDays,
    }),
    administrators: createAdministratorsService({ db, authenticator }),
    roles: createRolesService({ db, authenticator }),
    accessGroups: createAccessGroupsService({ db, authenticator }),
    computers: createComputersService({ db, genericPlanDb: persistence.genericPlanDb, clock }),
    computerEdits: createComputerEditsService({ db }),
    alerts: createAlertsService({ db }),
    computerBulk: createComputerBulkService({ db, clock }),
    computerRemoval: createComputerRemovalService({ db, clock, settings: settings.activities }),
    pendingComputers: createPendingComputersService({
      ...acting,
      limits: settings.scriptProfiles,
      publicUrl: settings.publicUrl,
    }),
    tags: createTagsService({ db }),
    savedSearches: createSavedSearchesService({ db }),
    events: createEventsService({ db }),
    messageBacklog: createMessageBacklogService({ db }),
    recoveryKeys: createRecoveryKeysService({
      db,
      clock,
      settings: settings.activities,
      encryptionKeys: settings.encryptionKeys,
    }),
    scriptProfiles: createScriptProfilesService({
      ...acting,
      publicUrl: settings.publicUrl,
      limits: settings.scriptProfiles,
    }),
    scripts: createScriptsService({ ...acting, publicUrl: settings.publicUrl }),
    snaps: createSnapsService(acting),
    kernels: createKernelsService(acting),
    packages: createPackagesService(acting),
    processes: createProcessesService(acting),
    power: createPowerService(acting),
    activities: createActivitiesService({ db, clock }),
    activityRepeats: createActivityRepeatsService({ db, clock, settings: settings.activities }),
    usgProfiles: createUsgProfilesService({
      db,
      clock,
      files,
      settings: settings.activities,
    }),
    usgReports: createUsgReportsService({ db, clock, files }),
  };
}

function createIdentities(
  settings: ServicesDeps['settings'],
  logger: Logger | undefined,
): IdentityAuthenticator | null {
  const { pam } = settings.identity;
  return pam && createPamAuthenticator({ ...pam, command: pamCommand(pam), logger });
}
