import { type IdentitySettings, readIdentitySettings } from './identity-settings.ts';
import { SettingReader } from './setting-reader.ts';
import type { EncryptionKey } from './setting-types.ts';
import type { ConfigRole } from './setting.ts';
import type { SettingValue } from './settings.ts';

export type { LoginThrottleSettings, PamSettings, PasswordPolicy } from './identity-settings.ts';
export { ConfigError } from './setting-reader.ts';
export type { EncryptionKey } from './setting-types.ts';
export type { ConfigRole } from './setting.ts';

/** Timeouts that PostgreSQL enforces, in seconds; 0 for none. */
export interface DatabaseLimits {
  readonly statementSeconds: number;
  readonly lockSeconds: number;
  /** Of an open transaction without statements. */
  readonly idleSeconds: number;
}

/** All settings of a Flotilla process, read once. @see docs/architecture.md#settings-and-commands */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Base of absolute links, without a trailing slash. */
  readonly publicUrl: string;
  /** Addresses and networks of proxies in front of the API. */
  readonly trustedProxies: readonly string[];
  readonly dataDir: string;
  /** An external PostgreSQL; null in the embedded stack's own process. */
  readonly databaseUrl: string | null;
  readonly databasePort: number;
  readonly databasePoolSize: number;
  readonly databaseLimits: DatabaseLimits;
  /** An external Temporal server, `host:port`; null in the embedded stack's own process. */
  readonly temporalAddress: string | null;
  readonly temporalNamespace: string;
  readonly temporalTls: TemporalTlsSettings;
  readonly temporalPort: number;
  readonly temporalUiPort: number;
  readonly temporalServerDir: string | null;
  readonly metricsHost: string;
  readonly metricsPort: number;
  readonly deployment: 'standalone' | 'saas';
  /** Empty: no first administrator is created. */
  readonly adminEmail: string;
  readonly adminPassword: string | null;
  readonly simulatedComputers: number;
  /** Token secrets, newest first: the first signs, all verify. */
  readonly jwtSecrets: readonly string[];
  /** AES-256 keys, newest first; the first encrypts, all decrypt. */
  readonly encryptionKeys: readonly EncryptionKey[];
  readonly smtpUrl: string | null;
  readonly mailFrom: string;
  /** Age in days at which events are removed; -1 keeps all. */
  readonly eventRetentionDays: number;
  /** Days after their end at which activities are removed; -1 keeps all. */
  readonly activityRetentionDays: number;
  readonly logLevel: SettingValue<'FLOTILLA_LOG_LEVEL'>;
  /** Grants access to the codec endpoint, as do the tokens of permitted people. */
  readonly codecToken: string | null;
  /** Further host names of the codec endpoint. */
  readonly codecHosts: readonly string[];
  /** True in processes that the embedded stack starts: they have no rate limits. */
  readonly embedded: boolean;
  readonly activities: ActivitySettings;
  readonly identity: IdentitySettings;
  readonly scriptProfiles: ScriptProfileLimits;
  readonly traffic: TrafficSettings;
  /** What the API does with unknown parameters and fields. */
  readonly unknownKeys: 'refuse' | 'ignore';
}

/** Limits per process; null for no limit. @see docs/limits.md#requests-of-clients */
export interface TrafficSettings {
  /** Per token, or per address where an operation needs none. */
  readonly api: Rate | null;
  /** Registrations per address and per account. */
  readonly enrolment: Rate | null;
  /** API calls waiting for a slot; one account gets half of them. */
  readonly maxWaiting: number;
}

export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export interface TemporalTlsSettings {
  readonly enabled: boolean;
  /** PEM files: the server's certificate authority, and our own certificate and key. */
  readonly caFile: string | null;
  readonly certFile: string | null;
  readonly keyFile: string | null;
  /** Name in the server's certificate, if it differs from the host. */
  readonly serverName: string | null;
  readonly apiKey: string | null;
}

/** @see docs/api-conventions.md#deployment-settings */
export interface ScriptProfileLimits {
  /** Computers of one run; the lowest ids are chosen. */
  readonly maxComputers: number;
  readonly maxProfiles: number;
  /** Minutes between two runs of a recurring profile. */
  readonly minIntervalMinutes: number;
}

export interface ActivitySettings {
  /** Groups of up to this many computers get a workflow per computer. @see docs/architecture.md#how-many-workflows */
  readonly singleBatchLimit: number;
  readonly batchMinSize: number;
  /** Exceeded when a group would have over a thousand batches. */
  readonly batchMaxSize: number;
  /** An operation without a result this many days after delivery fails. */
  readonly expiryDays: number;
  readonly wakeUpMinMs: number;
  readonly wakeUpMaxMs: number;
}

/**
 * Reads and checks every setting.
 * @param env - environment variables; an empty value counts as absent, except for email addresses
 * @param role - decides which settings are required
 * @throws {ConfigError} naming every wrong setting
 */
export function loadConfig(env: Record<string, string | undefined>, role: ConfigRole): Config {
  const read = new SettingReader(env, role);
  const host = read.get('FLOTILLA_HOST');
  const port = read.get('FLOTILLA_PORT');
  const publicUrl = read.get('FLOTILLA_PUBLIC_URL') ?? `http://${linkHost(host)}:${port}`;
  const deployment = read.get('FLOTILLA_DEPLOYMENT');
  const embedded = read.get('FLOTILLA_EMBEDDED');
  const config: Config = {
    host,
    port,
    publicUrl,
    trustedProxies: read.get('FLOTILLA_TRUSTED_PROXIES'),
    dataDir: read.get('FLOTILLA_DATA_DIR'),
    databaseUrl: read.get('FLOTILLA_DATABASE_URL'),
    databasePort: read.get('FLOTILLA_DATABASE_PORT'),
    databasePoolSize: read.get('FLOTILLA_DATABASE_POOL_SIZE'),
    databaseLimits: Object.freeze({
      statementSeconds: read.get('FLOTILLA_DATABASE_STATEMENT_TIMEOUT'),
      lockSeconds: read.get('FLOTILLA_DATABASE_LOCK_TIMEOUT'),
      idleSeconds: read.get('FLOTILLA_DATABASE_IDLE_TIMEOUT'),
    }),
    temporalAddress: read.get('FLOTILLA_TEMPORAL_ADDRESS'),
    temporalNamespace: read.get('FLOTILLA_TEMPORAL_NAMESPACE'),
    temporalTls: readTemporalTls(read),
    temporalPort: read.get('FLOTILLA_TEMPORAL_PORT'),
    temporalUiPort: read.get('FLOTILLA_TEMPORAL_UI_PORT'),
    temporalServerDir: read.get('FLOTILLA_TEMPORAL_SERVER_DIR'),
    metricsHost: read.get('FLOTILLA_METRICS_HOST'),
    metricsPort: read.get('FLOTILLA_METRICS_PORT'),
    deployment,
    adminEmail: read.get('FLOTILLA_ADMIN_EMAIL'),
    adminPassword: read.get('FLOTILLA_ADMIN_PASSWORD'),
    simulatedComputers: read.get('FLOTILLA_SIMULATED_COMPUTERS'),
    jwtSecrets: read.get('FLOTILLA_JWT_SECRET'),
    encryptionKeys: read.get('FLOTILLA_ENCRYPTION_KEYS'),
    smtpUrl: read.get('FLOTILLA_SMTP_URL'),
    mailFrom: read.get('FLOTILLA_MAIL_FROM') || `flotilla@${mailDomain(publicUrl)}`,
    eventRetentionDays: read.get('FLOTILLA_EVENT_RETENTION_DAYS'),
    activityRetentionDays: read.get('FLOTILLA_ACTIVITY_RETENTION_DAYS'),
    logLevel: read.get('FLOTILLA_LOG_LEVEL'),
    codecToken: read.get('FLOTILLA_CODEC_TOKEN'),
    codecHosts: read.get('FLOTILLA_CODEC_HOSTS'),
    embedded,
    activities: readActivitySettings(read),
    identity: readIdentitySettings(read, deployment, host),
    scriptProfiles: Object.freeze({
      maxComputers: read.get('FLOTILLA_SCRIPT_PROFILE_MAX_COMPUTERS'),
      maxProfiles: read.get('FLOTILLA_SCRIPT_PROFILE_MAX_PROFILES'),
      minIntervalMinutes: read.get('FLOTILLA_SCRIPT_PROFILE_MIN_INTERVAL'),
    }),
    traffic: readTrafficSettings(read, role === 'process' && !embedded),
    unknownKeys: read.get('FLOTILLA_UNKNOWN_KEYS'),
  };
  if (config.activities.batchMinSize > config.activities.batchMaxSize) {
    read.addProblem('FLOTILLA_LANE_MIN_SIZE', 'must not be above FLOTILLA_LANE_MAX_SIZE');
  }
  read.finish();
  return Object.freeze(config);
}

const TLS_DETAILS = [
  'FLOTILLA_TEMPORAL_TLS_CA',
  'FLOTILLA_TEMPORAL_TLS_CERT',
  'FLOTILLA_TEMPORAL_TLS_KEY',
  'FLOTILLA_TEMPORAL_TLS_SERVER_NAME',
  'FLOTILLA_TEMPORAL_API_KEY',
] as const;

function readTemporalTls(read: SettingReader): TemporalTlsSettings {
  const caFile = read.get('FLOTILLA_TEMPORAL_TLS_CA');
  const certFile = read.get('FLOTILLA_TEMPORAL_TLS_CERT');
  const keyFile = read.get('FLOTILLA_TEMPORAL_TLS_KEY');
  const serverName = read.get('FLOTILLA_TEMPORAL_TLS_SERVER_NAME');
  const apiKey = read.get('FLOTILLA_TEMPORAL_API_KEY');
  const isNeeded = TLS_DETAILS.some((name) => read.isSet(name));
  if (read.isSet('FLOTILLA_TEMPORAL_TLS_CERT') !== read.isSet('FLOTILLA_TEMPORAL_TLS_KEY')) {
    read.addProblem('FLOTILLA_TEMPORAL_TLS_CERT', 'and FLOTILLA_TEMPORAL_TLS_KEY must be given together');
  }
  const enabled = read.get('FLOTILLA_TEMPORAL_TLS') ?? isNeeded;
  if (isNeeded && !enabled)
    read.addProblem('FLOTILLA_TEMPORAL_TLS', 'must not be false while settings that need it are given');
  return Object.freeze({ enabled, caFile, certFile, keyFile, serverName, apiKey });
}

function readActivitySettings(read: SettingReader): ActivitySettings {
  return Object.freeze({
    singleBatchLimit: read.get('FLOTILLA_SINGLE_LANE_LIMIT'),
    batchMinSize: read.get('FLOTILLA_LANE_MIN_SIZE'),
    batchMaxSize: read.get('FLOTILLA_LANE_MAX_SIZE'),
    expiryDays: read.get('FLOTILLA_OPERATION_EXPIRY_DAYS'),
    wakeUpMinMs: read.get('FLOTILLA_NUDGE_MIN_MS'),
    wakeUpMaxMs: read.get('FLOTILLA_NUDGE_MAX_MS'),
  });
}

/** The embedded stack, where one person tries or measures Flotilla, has no rate limits by default. */
function readTrafficSettings(read: SettingReader, isLimited: boolean): TrafficSettings {
  const api = read.get('FLOTILLA_API_RATE_LIMIT') ?? (isLimited ? 100 : 0);
  const enrolments = read.get('FLOTILLA_ENROLMENT_RATE_LIMIT') ?? (isLimited ? 10 : 0);
  return Object.freeze({
    api: rate(api, read.get('FLOTILLA_API_RATE_BURST') ?? Math.ceil(api * 2)),
    enrolment: rate(enrolments, read.get('FLOTILLA_ENROLMENT_RATE_BURST') ?? Math.ceil(enrolments * 10)),
    maxWaiting: read.get('FLOTILLA_API_MAX_WAITING'),
  });
}

function rate(perSecond: number, burst: number): Rate | null {
  return perSecond > 0 ? Object.freeze({ perSecond, burst }) : null;
}

/** Host of the public URL if it is a name, otherwise one that every mail server accepts. */
function mailDomain(publicUrl: string): string {
  const host = URL.canParse(publicUrl) ? new URL(publicUrl).hostname : '';
  return /^[a-z0-9.-]*[a-z][a-z0-9-]*$/i.test(host) ? host : 'localhost';
}

/** Host for links to a listener on the given host. */
export function linkHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/** Host under which this machine reaches a listener on the given host. */
export function localHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
