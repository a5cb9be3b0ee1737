import type { SettingReader } from './setting-reader.ts';

/** How people get in. */
export interface IdentitySettings {
  /** Whether people may make accounts for themselves. */
  readonly selfServiceAccounts: boolean;
  readonly loginThrottle: LoginThrottleSettings;
  readonly passwords: PasswordPolicy;
  /** How long an invitation can be accepted. */
  readonly invitationDays: number;
  /** Null: logins by identity are judged by the stored hash. */
  readonly pam: PamSettings | null;
  /** What makes the first account where the server listens beyond this machine; null: everybody may. */
  readonly setupToken: { readonly given: string } | 'generate' | null;
}

export interface LoginThrottleSettings {
  /** Whether failed logins are throttled. */
  readonly isOn: boolean;
  /** Failed logins and registrations that one address may have in 5 minutes, whatever the names. */
  readonly addressLimit: number;
}

/** What new passwords are held to, beside a list of common ones. */
export interface PasswordPolicy {
  readonly minCharacters: number;
  /** Whether they need letters of both cases and a digit; the body of POST /standalone-account may say otherwise. */
  readonly strong: boolean;
}

export interface PamSettings {
  /** Name of a PAM service, a file of /etc/pam.d. */
  readonly service: string;
  /** Absolute path of a program to ask in place of our own helper. */
  readonly helper: string | null;
}

/**
 * @param deployment - people make accounts for themselves in `saas` unless it is set otherwise
 * @param host - where the API listens: beyond this machine the first account needs a setup token unless it is set otherwise
 */
export function readIdentitySettings(
  read: SettingReader,
  deployment: 'standalone' | 'saas',
  host: string,
): IdentitySettings {
  const service = read.get('FLOTILLA_PAM_SERVICE');
  const helper = read.get('FLOTILLA_PAM_HELPER');
  return Object.freeze({
    selfServiceAccounts: read.get('FLOTILLA_SELF_SERVICE_ACCOUNTS') ?? deployment === 'saas',
    loginThrottle: Object.freeze({
      isOn: read.get('FLOTILLA_LOGIN_THROTTLE'),
      addressLimit: read.get('FLOTILLA_LOGIN_ADDRESS_LIMIT'),
    }),
    passwords: Object.freeze({
      minCharacters: read.get('FLOTILLA_PASSWORD_MIN_LENGTH'),
      strong: read.get('FLOTILLA_ENFORCE_PASSWORD_STRENGTH'),
    }),
    invitationDays: read.get('FLOTILLA_INVITATION_DAYS'),
    pam: service === null ? null : Object.freeze({ service, helper }),
    setupToken: readSetupToken(read, host),
  });
}

/** Whoever is on this machine may make the first account; of others, who has seen the log. */
function readSetupToken(read: SettingReader, host: string): IdentitySettings['setupToken'] {
  const value = read.get('FLOTILLA_SETUP_TOKEN');
  if (value === null) return isLoopback(host) ? null : 'generate';
  if (value === 'generate') return value;
  return value === 'none' ? null : Object.freeze({ given: value });
}

/** Whether what listens there is reached from this machine alone. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host);
}
