import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { type ConfigRole, settingDetails } from './setting-types.ts';
import { SETTINGS } from './settings.ts';

export type { ConfigRole, EncryptionKey } from './setting-types.ts';

/** All settings of a Flotilla process, read once. @see docs/architecture.md#settings-and-commands */
export type Config = ReturnType<typeof toConfig>;
export type ActivitySettings = Config['activities'];
export type DatabaseLimits = Config['databaseLimits'];
export type IdentitySettings = Config['identity'];
export type LoginThrottleSettings = IdentitySettings['loginThrottle'];
export type PamSettings = NonNullable<IdentitySettings['pam']>;
export type PasswordPolicy = IdentitySettings['passwords'];
export type ScriptProfileLimits = Config['scriptProfiles'];
export type TemporalTlsSettings = Config['temporalTls'];

/** Lists all invalid settings. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Wrong settings:\n${problems.map((p) => `  - ${p}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

type SettingName = keyof typeof SETTINGS;
type Values = { readonly [N in SettingName]: z.output<(typeof SETTINGS)[N]> };
type Given = Partial<Record<SettingName, string>>;

/** Reads all settings. Empty values count as absent, except the administrator's address. @throws {ConfigError} */
export function loadConfig(env: Environment, role: ConfigRole): Config {
  const secrets = readSecretFiles(env);
  const problems = secrets.problems.map(({ name, message }) => `${name} ${message}`);
  const given: Given = {};
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(SETTINGS)) {
    const { takesEmpty = false, requiredBy = [], formerName = name } = settingDetails.get(schema)!;
    const text = secrets.env[name] || secrets.env[formerName];
    const isGiven = text !== undefined && (takesEmpty || text.trim() !== '');
    if (isGiven) given[name as SettingName] = text;
    else if (requiredBy.includes(role)) problems.push(`${name} is required`);
    const { data, error } = schema.safeParse(isGiven ? text : undefined);
    // With the default in place of a wrong value the checks below go on, so that one message names everything.
    values[name] = error ? schema.parse(undefined) : data;
    if (error) problems.push(`${name} ${error.issues[0]!.message}`);
  }
  problems.push(...contradictions(values as Values, given));
  if (problems.length > 0) throw new ConfigError(problems);
  return toConfig(values as Values, role, env['PATH']);
}

/** Each can be read from a file instead, `<setting>_FILE`, as container platforms provide secrets. */
const SECRET_SETTINGS: readonly string[] = Object.entries(SETTINGS)
  .filter(([, schema]) => settingDetails.get(schema)?.isSecret)
  .map(([name]) => name);

type Environment = Record<string, string | undefined>;

/** Reads the files that settings name, trimmed. Returns the new environment, and problems, which contain no secrets. */
export function readSecretFiles(env: Environment) {
  const result = { ...env };
  const problems: Array<{ name: string; message: string }> = [];
  for (const setting of SECRET_SETTINGS) {
    const name = `${setting}_FILE`;
    const file = env[name]?.trim();
    delete result[name];
    if (!file) continue;
    if (env[setting]) {
      problems.push({ name, message: `and ${setting} exclude each other` });
      continue;
    }
    try {
      const secret = readFileSync(file, 'utf8').trim();
      if (secret === '') problems.push({ name, message: `names an empty file: ${file}` });
      result[setting] = secret;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      problems.push({ name, message: `names a file that cannot be read: ${file} (${code ?? message})` });
    }
  }
  return { env: result, problems };
}

function contradictions(values: Values, given: Given): string[] {
  const problems: string[] = [];
  if (!given.FLOTILLA_TEMPORAL_TLS_CERT !== !given.FLOTILLA_TEMPORAL_TLS_KEY) {
    problems.push('FLOTILLA_TEMPORAL_TLS_CERT and FLOTILLA_TEMPORAL_TLS_KEY must be given together');
  }
  if (needsTls(given) && values.FLOTILLA_TEMPORAL_TLS === false) {
    problems.push('FLOTILLA_TEMPORAL_TLS must not be false while settings that need it are given');
  }
  if (values.FLOTILLA_BATCH_MIN_SIZE > values.FLOTILLA_BATCH_MAX_SIZE) {
    problems.push('FLOTILLA_BATCH_MIN_SIZE must not be above FLOTILLA_BATCH_MAX_SIZE');
  }
  return problems;
}

const TLS_DETAILS = [
  'FLOTILLA_TEMPORAL_TLS_CA',
  'FLOTILLA_TEMPORAL_TLS_CERT',
  'FLOTILLA_TEMPORAL_TLS_KEY',
  'FLOTILLA_TEMPORAL_TLS_SERVER_NAME',
  'FLOTILLA_TEMPORAL_API_KEY',
] as const;

function needsTls(values: Given | Values): boolean {
  return TLS_DETAILS.some((name) => Boolean(values[name]));
}

const { version: VERSION } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

function toConfig(values: Values, role: ConfigRole, programPath: string | undefined) {
  const host = values.FLOTILLA_HOST;
  const publicUrl = values.FLOTILLA_PUBLIC_URL ?? `http://${linkHost(host)}:${values.FLOTILLA_PORT}`;
  return Object.freeze({
    version: VERSION,
    host,
    port: values.FLOTILLA_PORT,
    publicUrl,
    trustedProxies: values.FLOTILLA_TRUSTED_PROXIES,
    /** Whether the web page is served. */
    webPage: values.FLOTILLA_WEB_PAGE,
    dataDir: values.FLOTILLA_DATA_DIR,
    /** An external PostgreSQL; null in the embedded stack's own process. */
    databaseUrl: values.FLOTILLA_DATABASE_URL,
    databasePort: values.FLOTILLA_DATABASE_PORT,
    databasePoolSize: values.FLOTILLA_DATABASE_POOL_SIZE,
    /** Timeouts that PostgreSQL enforces, in seconds; 0 for none. */
    databaseLimits: {
      statementSeconds: values.FLOTILLA_DATABASE_STATEMENT_TIMEOUT,
      lockSeconds: values.FLOTILLA_DATABASE_LOCK_TIMEOUT,
      idleSeconds: values.FLOTILLA_DATABASE_IDLE_TIMEOUT,
    },
    temporalAddress: values.FLOTILLA_TEMPORAL_ADDRESS,
    temporalNamespace: values.FLOTILLA_TEMPORAL_NAMESPACE,
    temporalTls: {
      enabled: values.FLOTILLA_TEMPORAL_TLS ?? needsTls(values),
      caFile: values.FLOTILLA_TEMPORAL_TLS_CA,
      certFile: values.FLOTILLA_TEMPORAL_TLS_CERT,
      keyFile: values.FLOTILLA_TEMPORAL_TLS_KEY,
      serverName: values.FLOTILLA_TEMPORAL_TLS_SERVER_NAME,
      apiKey: values.FLOTILLA_TEMPORAL_API_KEY,
    },
    temporalPort: values.FLOTILLA_TEMPORAL_PORT,
    temporalUiPort: values.FLOTILLA_TEMPORAL_UI_PORT,
    /** Without a trailing slash; null where the web page has no link to it. */
    temporalUiUrl: values.FLOTILLA_TEMPORAL_UI_URL?.replace(/\/+$/, '') ?? null,
    temporalServerDir: values.FLOTILLA_TEMPORAL_SERVER_DIR,
    metricsHost: values.FLOTILLA_METRICS_HOST,
    metricsPort: values.FLOTILLA_METRICS_PORT,
    deployment: values.FLOTILLA_DEPLOYMENT,
    /** Empty: no first administrator is created. */
    adminEmail: values.FLOTILLA_ADMIN_EMAIL,
    adminPassword: values.FLOTILLA_ADMIN_PASSWORD,
    simulatedComputers: values.FLOTILLA_SIMULATED_COMPUTERS,
    jwtSecrets: values.FLOTILLA_JWT_SECRET,
    encryptionKeys: values.FLOTILLA_ENCRYPTION_KEYS,
    smtpUrl: values.FLOTILLA_SMTP_URL,
    mailFrom: values.FLOTILLA_MAIL_FROM ?? `flotilla@${mailDomain(publicUrl)}`,
    /** Age in days at which events are removed; -1 keeps all. */
    eventRetentionDays: values.FLOTILLA_EVENT_RETENTION_DAYS,
    eventFeedDays: values.FLOTILLA_EVENT_FEED_DAYS,
    webhookPrivateAddresses: values.FLOTILLA_WEBHOOK_PRIVATE_ADDRESSES,
    activityRetentionDays: values.FLOTILLA_ACTIVITY_RETENTION_DAYS,
    logLevel: values.FLOTILLA_LOG_LEVEL,
    codecToken: values.FLOTILLA_CODEC_TOKEN,
    codecHosts: values.FLOTILLA_CODEC_HOSTS,
    /** True in processes that the embedded stack starts: they have no rate limits. */
    embedded: values.FLOTILLA_EMBEDDED,
    activities: {
      /** Groups of up to this many computers get a workflow per computer. */
      singleBatchLimit: values.FLOTILLA_SINGLE_BATCH_LIMIT,
      batchMinSize: values.FLOTILLA_BATCH_MIN_SIZE,
      batchMaxSize: values.FLOTILLA_BATCH_MAX_SIZE,
      expiryDays: values.FLOTILLA_OPERATION_EXPIRY_DAYS,
      wakeUpMinMs: values.FLOTILLA_WAKE_UP_MIN_MS,
      wakeUpMaxMs: values.FLOTILLA_WAKE_UP_MAX_MS,
    },
    identity: identitySettings(values, programPath),
    /** @see docs/api-conventions.md#deployment-settings */
    scriptProfiles: {
      maxComputers: values.FLOTILLA_SCRIPT_PROFILE_MAX_COMPUTERS,
      maxProfiles: values.FLOTILLA_SCRIPT_PROFILE_MAX_PROFILES,
      minIntervalMinutes: values.FLOTILLA_SCRIPT_PROFILE_MIN_INTERVAL,
    },
    /** @see docs/architecture.md#housekeeping-schedules */
    hashIdDatabases: {
      maxBytes: values.FLOTILLA_HASH_ID_DATABASE_SIZE * 1024 * 1024,
      hasOneAccount: values.FLOTILLA_DEPLOYMENT === 'standalone',
    },
    fastAgents: values.FLOTILLA_FAST_AGENTS,
    traffic: trafficSettings(values, role === 'process' && !values.FLOTILLA_EMBEDDED),
    unknownKeys: values.FLOTILLA_UNKNOWN_KEYS,
  });
}

function identitySettings(values: Values, programPath: string | undefined) {
  const service = values.FLOTILLA_PAM_SERVICE;
  return {
    selfServiceAccounts: values.FLOTILLA_SELF_SERVICE_ACCOUNTS ?? values.FLOTILLA_DEPLOYMENT === 'saas',
    loginThrottle: { isOn: values.FLOTILLA_LOGIN_THROTTLE, addressLimit: values.FLOTILLA_LOGIN_ADDRESS_LIMIT },
    passwords: {
      minCharacters: values.FLOTILLA_PASSWORD_MIN_LENGTH,
      strong: values.FLOTILLA_ENFORCE_PASSWORD_STRENGTH,
    },
    invitationDays: values.FLOTILLA_INVITATION_DAYS,
    pam: service === null ? null : { service, helper: values.FLOTILLA_PAM_HELPER, programPath },
    setupToken: setupToken(values),
  };
}

/** Required to create the first account; null: nothing is. */
function setupToken(values: Values): { readonly given: string } | 'generate' | null {
  const token = values.FLOTILLA_SETUP_TOKEN ?? (isLoopback(values.FLOTILLA_HOST) ? 'none' : 'generate');
  if (token === 'none') return null;
  return token === 'generate' ? token : { given: token };
}

export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Per process, null for none; no rate limits by default when embedded. @see docs/limits.md#requests-of-clients */
function trafficSettings(values: Values, isLimited: boolean) {
  const api = values.FLOTILLA_API_RATE_LIMIT ?? (isLimited ? 100 : 0);
  const enrolments = values.FLOTILLA_ENROLMENT_RATE_LIMIT ?? (isLimited ? 10 : 0);
  return {
    /** Per token, or per address where an operation needs none. */
    api: rate(api, values.FLOTILLA_API_RATE_BURST ?? Math.ceil(api * 2)),
    enrolment: rate(enrolments, values.FLOTILLA_ENROLMENT_RATE_BURST ?? Math.ceil(enrolments * 10)),
    /** API calls waiting for a slot; one account gets half of them. */
    maxWaiting: values.FLOTILLA_API_MAX_WAITING,
  };
}

function rate(perSecond: number, burst: number): Rate | null {
  return perSecond > 0 ? { perSecond, burst } : null;
}

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

/** Whether a listener on this host is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host);
}
