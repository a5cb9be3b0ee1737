import { optional, required, setting } from './setting.ts';
import * as types from './setting-types.ts';

export const ADDRESSES = {
  FLOTILLA_HOST: setting(
    types.text,
    '127.0.0.1',
    'API, gateway',
    'Address on which API, gateway and documentation listen. When other machines can reach it, `npm start` makes a registration key, once, and computers wait to be accepted.',
  ),
  FLOTILLA_PORT: setting(types.port, 8080, 'API, gateway', 'Port of API, gateway and documentation.'),
  FLOTILLA_PUBLIC_URL: optional(types.url('http:', 'https:'), 'all', 'Base URL of links in responses and mails.', {
    default: 'made of host and port',
  }),
  FLOTILLA_TRUSTED_PROXIES: setting(
    types.networks,
    [],
    'API, gateway',
    'Proxies whose `X-Forwarded-For` is believed. Behind a proxy that is not listed, all clients seem to have one address and share its limits.',
    { default: 'none' },
  ),
  FLOTILLA_METRICS_HOST: setting(
    types.text,
    '127.0.0.1',
    'all',
    'Address of `/metrics`, `/healthz` and `/readyz` of each process; 0.0.0.0 lets other machines and containers in.',
  ),
  FLOTILLA_METRICS_PORT: setting(
    types.port,
    9464,
    'all',
    'First port of `/metrics`. Each process takes the next free one and logs it.',
  ),
};

export const DATA = {
  FLOTILLA_DATA_DIR: setting(
    types.text,
    '.flotilla',
    'npm start',
    'Directory of the embedded stack: databases, generated secrets, logs. Relative to the checkout.',
  ),
  FLOTILLA_DATABASE_URL: required(
    types.url('postgres:', 'postgresql:'),
    'all',
    'External PostgreSQL, `postgres://user:password@host:port/database`. For TLS add `?sslmode=verify-full&sslrootcert=/path/ca.pem` (and `sslcert`, `sslkey`) and use the name of the server, not its address.',
    { requiredBy: ['process', 'migrate'], isSecret: true, default: 'the embedded PostgreSQL under npm start' },
  ),
  FLOTILLA_DATABASE_PORT: setting(types.port, 5433, 'npm start', 'Port of the embedded PostgreSQL.'),
  FLOTILLA_DATABASE_POOL_SIZE: setting(
    types.wholeNumber(4, 200),
    10,
    'all',
    'Database connections of a process. An API or gateway opens as many again for its point queries.',
    { unit: 'connections' },
  ),
  FLOTILLA_DATABASE_STATEMENT_TIMEOUT: setting(
    types.wholeNumber(0, 86_400),
    120,
    'all',
    'When PostgreSQL ends a statement (ten times as late in workers); 0 = never. The request is answered with 503 and `Retry-After`, and nothing is changed.',
    { unit: 'seconds' },
  ),
  FLOTILLA_DATABASE_LOCK_TIMEOUT: setting(
    types.wholeNumber(0, 86_400),
    60,
    'all',
    'When PostgreSQL ends a wait for a lock; 0 = never.',
    { unit: 'seconds' },
  ),
  FLOTILLA_DATABASE_IDLE_TIMEOUT: setting(
    types.wholeNumber(0, 86_400),
    120,
    'all',
    'When PostgreSQL ends an abandoned transaction; 0 = never.',
    { unit: 'seconds' },
  ),
};

export const TEMPORAL = {
  FLOTILLA_TEMPORAL_ADDRESS: required(types.hostAndPort, 'all', 'External Temporal server.', {
    requiredBy: ['process', 'temporal'],
    default: 'the embedded server under npm start',
  }),
  FLOTILLA_TEMPORAL_NAMESPACE: setting(
    types.text,
    'flotilla',
    'all',
    'Temporal namespace. Two deployments on one Temporal server need two.',
  ),
  FLOTILLA_TEMPORAL_TLS: optional(
    types.boolean,
    'all',
    'Whether the external server is reached over TLS. Without a CA its certificate is checked against the authorities of the system.',
    { default: 'true when one of the next five is set, else false' },
  ),
  FLOTILLA_TEMPORAL_TLS_CA: optional(
    types.readableFile,
    'all',
    'PEM file of the authority that signed the server certificate.',
  ),
  FLOTILLA_TEMPORAL_TLS_CERT: optional(types.readableFile, 'all', 'PEM file of the client certificate.'),
  FLOTILLA_TEMPORAL_TLS_KEY: optional(types.readableFile, 'all', 'PEM file of its key.'),
  FLOTILLA_TEMPORAL_TLS_SERVER_NAME: optional(
    types.text,
    'all',
    'Name in the server certificate, if it is not the host of the address.',
  ),
  FLOTILLA_TEMPORAL_API_KEY: optional(types.text, 'all', 'API key of a hosted namespace.', { isSecret: true }),
  FLOTILLA_TEMPORAL_PORT: setting(types.port, 7233, 'npm start', 'Port of the embedded server.'),
  FLOTILLA_TEMPORAL_UI_PORT: setting(types.port, 8233, 'npm start', 'Port of the embedded web UI.'),
  FLOTILLA_TEMPORAL_SERVER_DIR: optional(
    types.text,
    'npm start',
    'Directory with `flotilla-temporal` and `temporal-sql-tool`, built elsewhere, or with `temporal-server` and `temporal-sql-tool` of an official release, which have no web UI.',
    { default: 'the cache, else a build with Go, else the official download' },
  ),
};

export const SECRETS = {
  FLOTILLA_JWT_SECRET: setting(
    types.secrets(32, 4096),
    [],
    'API',
    'Secrets that sign tokens, newest first: the first signs, all verify.',
    { requiredBy: ['process'], isSecret: true, default: 'generated into the data directory by npm start' },
  ),
  FLOTILLA_ENCRYPTION_KEYS: setting(
    types.encryptionKeys,
    [],
    'all',
    'AES-256 keys for recovery keys and for everything that Temporal stores, newest first: the first encrypts, all decrypt.',
    { requiredBy: ['process', 'temporal'], isSecret: true, default: 'generated into the data directory by npm start' },
  ),
  FLOTILLA_CODEC_TOKEN: optional(
    types.secret(32, 4096),
    'API',
    'Opens `/codec` of an API, which decrypts what Temporal stores. Tokens of people with the permission ManageAccount open it too.',
    { isSecret: true, default: 'generated into the data directory by npm start, else none' },
  ),
  FLOTILLA_CODEC_HOSTS: setting(
    types.hostNames,
    [],
    'API',
    'Host names under which `/codec` may be called, besides those of `FLOTILLA_PUBLIC_URL` and of this machine.',
    { default: 'none' },
  ),
  FLOTILLA_SMTP_URL: optional(
    types.url('smtp:', 'smtps:'),
    'all',
    'Server for outgoing mail, `smtp://user:password@host:port`.',
    { isSecret: true },
  ),
  FLOTILLA_MAIL_FROM: optional(types.email, 'all', 'Sender of mail.', {
    default: 'flotilla@ and the host of FLOTILLA_PUBLIC_URL, or localhost',
  }),
};
