import { optional, setting } from './setting.ts';
import * as types from './setting-types.ts';

export const IDENTITY = {
  FLOTILLA_DEPLOYMENT: setting(
    types.oneOf('standalone', 'saas'),
    'standalone',
    'all',
    'One account, or many. In `saas` there is no `POST /standalone-account`: make the first account while it is `standalone`.',
  ),
  FLOTILLA_ADMIN_EMAIL: setting(
    types.email,
    'admin@example.com',
    'npm start',
    'First administrator, created while there is no account. Set but empty: none is created.',
  ),
  FLOTILLA_ADMIN_PASSWORD: optional(
    types.secret(1, 1024),
    'npm start',
    'Password of the first administrator. The rules for new passwords apply.',
    { isSecret: true, default: 'generated, and printed once' },
  ),
  FLOTILLA_SETUP_TOKEN: optional(
    types.matching(/^(generate|none|\S{16,1024})$/, 'generate, none, or 16 to 1024 characters without spaces'),
    'API',
    'What `POST /standalone-account` requires as `setup_token`. `generate`: a token that the first API to start writes to its log. `none`: nothing.',
    { isSecret: true, default: 'none where FLOTILLA_HOST is a loopback address, else generate' },
  ),
  FLOTILLA_SELF_SERVICE_ACCOUNTS: optional(types.boolean, 'API', 'Whether people may create accounts for themselves.', {
    default: 'true in saas, false in standalone',
  }),
  FLOTILLA_INVITATION_DAYS: setting(types.wholeNumber(1, 365), 14, 'API', 'How long an invitation can be accepted.', {
    unit: 'days',
  }),
  FLOTILLA_LOGIN_THROTTLE: setting(
    types.boolean,
    true,
    'API',
    'Whether failed logins are limited: 20 in 5 minutes per address and name, 100 an hour per name.',
  ),
  FLOTILLA_LOGIN_ADDRESS_LIMIT: setting(
    types.wholeNumber(20, 1_000_000),
    100,
    'API',
    'Failed logins and registrations of one address in 5 minutes, whatever the names. Names that have logged in from there before are let in.',
  ),
  FLOTILLA_PASSWORD_MIN_LENGTH: setting(
    types.wholeNumber(8, 128),
    12,
    'API',
    'Minimum length of a new password; the maximum is 128. Common passwords, names and sequences are refused. Existing passwords and those of PAM are not checked.',
    { unit: 'characters' },
  ),
  FLOTILLA_ENFORCE_PASSWORD_STRENGTH: setting(
    types.boolean,
    false,
    'API',
    'Whether new passwords need an upper case letter, a lower case letter and a digit. `enforce_password_strength` of `POST /standalone-account` overrides it.',
  ),
  FLOTILLA_PAM_SERVICE: optional(
    types.matching(/^[\w-]{1,64}$/, 'the name of a PAM service'),
    'API',
    'PAM service (a file of `/etc/pam.d`) that checks logins by `identity`, in 5 seconds at most. People must exist here with the same identity. Needs `python3`, which the container image lacks, and the right to read the password database.',
    { default: 'none: the stored password is checked' },
  ),
  FLOTILLA_PAM_HELPER: optional(
    types.matching(/^\//, 'an absolute path'),
    'API',
    'Program to run in place of the built-in PAM helper. It reads service NUL identity NUL password NUL from standard input; its exit status means yes (0), no (1) or unknown (any other).',
  ),
};

export const BEHAVIOUR = {
  FLOTILLA_SIMULATED_COMPUTERS: setting(
    types.wholeNumber(0, 200_000),
    25,
    'npm start',
    'Simulated computers; 0 = none.',
  ),
  FLOTILLA_LOG_LEVEL: setting(
    types.oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'info',
    'all',
    '`debug` logs each exchange of an agent and each read of a client.',
  ),
  FLOTILLA_EMBEDDED: setting(
    types.boolean,
    false,
    'all',
    'Set by `npm start` for the processes that it runs: they end within seconds and have no rate limits.',
  ),
  FLOTILLA_EVENT_RETENTION_DAYS: setting(
    types.retentionDays(36_500),
    -1,
    'worker',
    'How long the event log keeps an entry; -1 = for ever.',
    { unit: 'days' },
  ),
  FLOTILLA_ACTIVITY_RETENTION_DAYS: setting(
    types.retentionDays(36_500),
    -1,
    'worker',
    'How long activities are kept after their end, each group as a whole; -1 = for ever. The latest run of every profile stays, and so does what a computer was sent and has not acknowledged.',
    { unit: 'days' },
  ),
  FLOTILLA_UNKNOWN_KEYS: setting(
    types.oneOf('refuse', 'ignore'),
    'refuse',
    'API',
    'What happens to parameters and fields that an operation does not know: 400, or the response header `Flotilla-Ignored` names them.',
  ),
  FLOTILLA_OPERATION_EXPIRY_DAYS: setting(
    types.decimal(0.00001, 3650),
    30,
    'worker',
    'How long after its delivery an operation without a result fails.',
    { unit: 'days' },
  ),
  FLOTILLA_SCRIPT_PROFILE_MAX_COMPUTERS: setting(
    types.wholeNumber(1, 100_000),
    5000,
    'API, worker',
    'Computers of one run of a script profile; those with the lowest ids are taken.',
    { unit: 'computers' },
  ),
  FLOTILLA_SCRIPT_PROFILE_MAX_PROFILES: setting(
    types.wholeNumber(0, 100_000),
    100,
    'API',
    'Script profiles of an account, without the archived ones.',
    { unit: 'profiles' },
  ),
  FLOTILLA_SCRIPT_PROFILE_MIN_INTERVAL: setting(
    types.wholeNumber(1, 527_040),
    60,
    'API',
    'Shortest time between two runs of a recurring script profile.',
    { unit: 'minutes' },
  ),
};

export const LOAD = {
  FLOTILLA_API_RATE_LIMIT: optional(
    types.decimal(0, 1_000_000),
    'API',
    'Requests that one process takes per token, or per address where a call needs no token; 0 = no limit. Beyond it: 429 with `Retry-After`.',
    { unit: 'per second', default: '0 under npm start, else 100' },
  ),
  FLOTILLA_API_RATE_BURST: optional(types.wholeNumber(1, 10_000_000), 'API', 'Requests that may come at once.', {
    unit: 'requests',
    default: 'twice the rate',
  }),
  FLOTILLA_ENROLMENT_RATE_LIMIT: optional(
    types.decimal(0, 1_000_000),
    'gateway',
    'Registrations of computers that one process takes from one address, and of one account; 0 = no limit. Agents try again by themselves.',
    { unit: 'per second', default: '0 under npm start, else 10' },
  ),
  FLOTILLA_ENROLMENT_RATE_BURST: optional(
    types.wholeNumber(1, 10_000_000),
    'gateway',
    'Registrations that may come at once.',
    { unit: 'registrations', default: 'ten times the rate' },
  ),
  FLOTILLA_API_MAX_WAITING: setting(
    types.wholeNumber(2, 1_000_000),
    1000,
    'API',
    'Calls that wait for their turn in one process, half of them of one account. Beyond it: 503 with `Retry-After`.',
    { unit: 'calls' },
  ),
  FLOTILLA_SINGLE_LANE_LIMIT: setting(
    types.wholeNumber(0, 500),
    25,
    'API, worker',
    'Groups of up to this size get one workflow per computer.',
    { unit: 'computers' },
  ),
  FLOTILLA_LANE_MIN_SIZE: setting(
    types.wholeNumber(1, 100_000),
    500,
    'API, worker',
    'Least size of a batch in larger groups.',
    { unit: 'computers' },
  ),
  FLOTILLA_LANE_MAX_SIZE: setting(
    types.wholeNumber(1, 100_000),
    5000,
    'API, worker',
    'Largest size of a batch; exceeded where a group would have over 1,000 batches.',
    { unit: 'computers' },
  ),
  FLOTILLA_NUDGE_MIN_MS: setting(
    types.wholeNumber(0, 60_000),
    500,
    'worker',
    'Least time between two wake-ups of a large batch.',
    { unit: 'milliseconds' },
  ),
  FLOTILLA_NUDGE_MAX_MS: setting(
    types.wholeNumber(0, 600_000),
    5000,
    'worker',
    'Longest time between two wake-ups. It grows towards this with the age of the batch and with how many large batches its account has at work.',
    { unit: 'milliseconds' },
  ),
};

/** Every setting, from which `docs/settings.md` and `.env.example` are generated. */
