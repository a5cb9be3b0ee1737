import { type IdentitySettings, readIdentitySettings } from './identity-settings.ts';
import { type EncryptionKey, SettingReader } from './setting-reader.ts';

export type { LoginThrottleSettings, PamSettings, PasswordPolicy } from './identity-settings.ts';
export { ConfigError, type EncryptionKey } from './setting-reader.ts';

/** What PostgreSQL ends by itself, in seconds; 0 for no limit. */
export interface DatabaseLimits {
  readonly statementSeconds: number;
  readonly lockSeconds: number;
  /** Of a transaction that nobody goes on with. */
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
  /** Directory with the programs of a Temporal server. */
  readonly temporalServerDir: string | null;
  /** Where metrics and the health checks beside them listen. */
  readonly metricsHost: string;
  readonly metricsPort: number;
  readonly deployment: 'standalone' | 'saas';
  /** Empty: no first administrator is made. */
  readonly adminEmail: string;
  readonly adminPassword: string | null;
  readonly simulatedComputers: number;
  /** Secrets of tokens, newest first: the first signs, all verify. */
  readonly jwtSecrets: readonly string[];
  /** AES-256 keys, newest first; the first encrypts, all decrypt. */
  readonly encryptionKeys: readonly EncryptionKey[];
  readonly smtpUrl: string | null;
  /** Sender of mail. */
  readonly mailFrom: string;
  /** Lines of the event log older than so many days are removed; -1 keeps all. */
  readonly eventRetentionDays: number;
  /** Activities that ended more than so many days ago are removed; -1 keeps all. */
  readonly activityRetentionDays: number;
  readonly logLevel: LogLevel;
  /** Token that opens the codec endpoint, beside those of people who may. */
  readonly codecToken: string | null;
  /** Names, beside ours and those of this machine, under which the codec endpoint is called. */
  readonly codecHosts: readonly string[];
  /** True in processes that the embedded stack starts, which end within seconds and limit nobody. */
  readonly embedded: boolean;
  readonly activities: ActivitySettings;
  readonly identity: IdentitySettings;
  readonly scriptProfiles: ScriptProfileLimits;
  readonly traffic: TrafficSettings;
  /** What the API does with parameters and fields that an operation does not know. */
  readonly unknownKeys: 'refuse' | 'ignore';
}

/** How much one sender may ask of one process; a rate is per second, null for no limit. @see docs/limits.md#requests-of-clients */
export interface TrafficSettings {
  /** Requests of one token, or of one address where a call needs none. */
  readonly api: Rate | null;
  /** Registrations from one address, and of one account. */
  readonly enrolment: Rate | null;
  /** Calls of the API that wait for a place; half of them of one account. */
  readonly maxWaiting: number;
}

export interface Rate {
  readonly perSecond: number;
  /** What may come at once after a pause. */
  readonly burst: number;
}

/** How the Temporal server is reached, when not in the clear. */
export interface TemporalTlsSettings {
  readonly enabled: boolean;
  /** PEM files: of the authority that signed the server's certificate, and our own certificate with its key. */
  readonly caFile: string | null;
  readonly certFile: string | null;
  readonly keyFile: string | null;
  /** Name in the server's certificate, where it is not the host of the address. */
  readonly serverName: string | null;
  readonly apiKey: string | null;
}

/** @see docs/api-conventions.md#deployment-settings */
export interface ScriptProfileLimits {
  /** Computers of one run; those with the lowest ids are taken. */
  readonly maxComputers: number;
  /** Profiles of an account that are not archived. */
  readonly maxProfiles: number;
  /** Minutes between two runs of a recurring profile. */
  readonly minIntervalMinutes: number;
}

export interface ActivitySettings {
  /** Groups up to this many computers get a workflow per computer. @see docs/architecture.md#how-many-workflows */
  readonly singleLaneLimit: number;
  readonly laneMinSize: number;
  /** Exceeded where a group would have over a thousand lanes. */
  readonly laneMaxSize: number;
  /** An operation not answered this many days after delivery fails. */
  readonly expiryDays: number;
  readonly nudgeMinMs: number;
  readonly nudgeMaxMs: number;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

type Needed = 'database' | 'temporal' | 'keys' | 'jwt';

/** What a process cannot do without. The embedded stack makes all of it for itself. */
const NEEDS = {
  stack: [],
  process: ['database', 'temporal', 'keys', 'jwt'],
  migrate: ['database'],
  temporal: ['temporal', 'keys'],
} as const satisfies Record<string, readonly Needed[]>;

/** `process`: API, gateway, worker; `migrate`: only the database; `temporal`: only the Temporal server. */
export type ConfigRole = keyof typeof NEEDS;

/**
 * Reads and checks every setting.
 *
 * @param env - environment variables; an empty value counts as absent, except for FLOTILLA_ADMIN_EMAIL
 * @param role - decides which settings are required
 * @throws {ConfigError} naming every wrong setting
 * @see docs/architecture.md#settings-and-commands
 */
export function loadConfig(env: Record<string, string | undefined>, role: ConfigRole): Config {
  const read = new SettingReader(env);
  const needs = (what: Needed): boolean => (NEEDS[role] as readonly Needed[]).includes(what);
  const host = read.text('FLOTILLA_HOST') ?? '127.0.0.1';
  const port = read.port('FLOTILLA_PORT', 8080);
  const publicUrl = read.url('FLOTILLA_PUBLIC_URL', ['http:', 'https:']) ?? `http://${linkHost(host)}:${port}`;
  const deployment = read.oneOf('FLOTILLA_DEPLOYMENT', ['standalone', 'saas'] as const, 'standalone');
  const embedded = read.flag('FLOTILLA_EMBEDDED', false);
  const config: Config = {
    host,
    port,
    publicUrl,
    trustedProxies: read.networks('FLOTILLA_TRUSTED_PROXIES'),
    dataDir: read.text('FLOTILLA_DATA_DIR') ?? '.flotilla',
    databaseUrl: read.url('FLOTILLA_DATABASE_URL', ['postgres:', 'postgresql:'], needs('database')),
    databasePort: read.port('FLOTILLA_DATABASE_PORT', 5433),
    databasePoolSize: read.int('FLOTILLA_DATABASE_POOL_SIZE', 10, 4, 200),
    databaseLimits: Object.freeze({
      statementSeconds: read.int('FLOTILLA_DATABASE_STATEMENT_TIMEOUT', 120, 0, 86_400),
      lockSeconds: read.int('FLOTILLA_DATABASE_LOCK_TIMEOUT', 60, 0, 86_400),
      idleSeconds: read.int('FLOTILLA_DATABASE_IDLE_TIMEOUT', 120, 0, 86_400),
    }),
    temporalAddress: read.hostPort('FLOTILLA_TEMPORAL_ADDRESS', needs('temporal')),
    temporalNamespace: read.text('FLOTILLA_TEMPORAL_NAMESPACE') ?? 'flotilla',
    temporalTls: readTemporalTls(read),
    temporalPort: read.port('FLOTILLA_TEMPORAL_PORT', 7233),
    temporalUiPort: read.port('FLOTILLA_TEMPORAL_UI_PORT', 8233),
    temporalServerDir: read.text('FLOTILLA_TEMPORAL_SERVER_DIR'),
    metricsHost: read.text('FLOTILLA_METRICS_HOST') ?? '127.0.0.1',
    metricsPort: read.port('FLOTILLA_METRICS_PORT', 9464),
    deployment,
    adminEmail: read.email('FLOTILLA_ADMIN_EMAIL', 'admin@example.com'),
    adminPassword: read.secret('FLOTILLA_ADMIN_PASSWORD', 1, 1024),
    simulatedComputers: read.int('FLOTILLA_SIMULATED_COMPUTERS', 25, 0, 200_000),
    jwtSecrets: read.secrets('FLOTILLA_JWT_SECRET', 32, 4096, needs('jwt')),
    encryptionKeys: read.keys('FLOTILLA_ENCRYPTION_KEYS', needs('keys')),
    smtpUrl: read.url('FLOTILLA_SMTP_URL', ['smtp:', 'smtps:']),
    mailFrom: read.email('FLOTILLA_MAIL_FROM', '') || `flotilla@${mailDomain(publicUrl)}`,
    eventRetentionDays: read.retention('FLOTILLA_EVENT_RETENTION_DAYS', 36_500),
    activityRetentionDays: read.retention('FLOTILLA_ACTIVITY_RETENTION_DAYS', 36_500),
    logLevel: read.oneOf('FLOTILLA_LOG_LEVEL', LOG_LEVELS, 'info'),
    codecToken: read.secret('FLOTILLA_CODEC_TOKEN', 32, 4096),
    codecHosts: read.names('FLOTILLA_CODEC_HOSTS'),
    embedded,
    activities: readActivitySettings(read),
    identity: readIdentitySettings(read, deployment, host),
    scriptProfiles: Object.freeze({
      maxComputers: read.int('FLOTILLA_SCRIPT_PROFILE_MAX_COMPUTERS', 5000, 1, 100_000),
      maxProfiles: read.int('FLOTILLA_SCRIPT_PROFILE_MAX_PROFILES', 100, 0, 100_000),
      minIntervalMinutes: read.int('FLOTILLA_SCRIPT_PROFILE_MIN_INTERVAL', 60, 1, 527_040),
    }),
    traffic: readTrafficSettings(read, role === 'process' && !embedded),
    unknownKeys: read.oneOf('FLOTILLA_UNKNOWN_KEYS', ['refuse', 'ignore'] as const, 'refuse'),
  };
  if (config.activities.laneMinSize > config.activities.laneMaxSize) {
    read.problem('FLOTILLA_LANE_MIN_SIZE', 'must not be above FLOTILLA_LANE_MAX_SIZE');
  }
  read.finish();
  return Object.freeze(config);
}

function readTemporalTls(read: SettingReader): TemporalTlsSettings {
  const caFile = read.file('FLOTILLA_TEMPORAL_TLS_CA');
  const certFile = read.file('FLOTILLA_TEMPORAL_TLS_CERT');
  const keyFile = read.file('FLOTILLA_TEMPORAL_TLS_KEY');
  const serverName = read.text('FLOTILLA_TEMPORAL_TLS_SERVER_NAME');
  const apiKey = read.text('FLOTILLA_TEMPORAL_API_KEY');
  const asked = [caFile, certFile, keyFile, serverName, apiKey].some((value) => value !== null);
  if ((certFile === null) !== (keyFile === null)) {
    read.problem('FLOTILLA_TEMPORAL_TLS_CERT', 'and FLOTILLA_TEMPORAL_TLS_KEY must be given together');
  }
  const enabled = read.flag('FLOTILLA_TEMPORAL_TLS', asked);
  if (asked && !enabled) read.problem('FLOTILLA_TEMPORAL_TLS', 'must not be false beside the settings that need it');
  return Object.freeze({ enabled, caFile, certFile, keyFile, serverName, apiKey });
}

function readActivitySettings(read: SettingReader): ActivitySettings {
  return Object.freeze({
    singleLaneLimit: read.int('FLOTILLA_SINGLE_LANE_LIMIT', 25, 0, 500),
    laneMinSize: read.int('FLOTILLA_LANE_MIN_SIZE', 500, 1, 100_000),
    laneMaxSize: read.int('FLOTILLA_LANE_MAX_SIZE', 5000, 1, 100_000),
    expiryDays: read.number('FLOTILLA_OPERATION_EXPIRY_DAYS', 30, 0.00001, 3650),
    nudgeMinMs: read.int('FLOTILLA_NUDGE_MIN_MS', 500, 0, 60_000),
    nudgeMaxMs: read.int('FLOTILLA_NUDGE_MAX_MS', 5000, 0, 600_000),
  });
}

/** Off where one person tries or measures the whole of it on one machine; on where roles run apart. */
function readTrafficSettings(read: SettingReader, limited: boolean): TrafficSettings {
  const api = read.number('FLOTILLA_API_RATE_LIMIT', limited ? 100 : 0, 0, 1_000_000);
  const apiBurst = read.int('FLOTILLA_API_RATE_BURST', Math.ceil(api * 2), 1, 10_000_000);
  const enrolments = read.number('FLOTILLA_ENROLMENT_RATE_LIMIT', limited ? 10 : 0, 0, 1_000_000);
  const enrolmentBurst = read.int('FLOTILLA_ENROLMENT_RATE_BURST', Math.ceil(enrolments * 10), 1, 10_000_000);
  const maxWaiting = read.int('FLOTILLA_API_MAX_WAITING', 1000, 2, 1_000_000);
  return Object.freeze({ api: rate(api, apiBurst), enrolment: rate(enrolments, enrolmentBurst), maxWaiting });
}

function rate(perSecond: number, burst: number): Rate | null {
  return perSecond > 0 ? Object.freeze({ perSecond, burst }) : null;
}

/** Host of the public URL where it is a name, else one that every mail server takes. */
function mailDomain(publicUrl: string): string {
  const host = URL.canParse(publicUrl) ? new URL(publicUrl).hostname : '';
  return /^[a-z0-9.-]*[a-z][a-z0-9-]*$/i.test(host) ? host : 'localhost';
}

/** Host in links to what listens on the configured one. */
export function linkHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/** Host under which this machine reaches what listens on the configured one. */
export function localHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
