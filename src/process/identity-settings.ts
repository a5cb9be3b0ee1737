import type { SettingReader } from './setting-reader.ts';

export interface IdentitySettings {
  readonly selfServiceAccounts: boolean;
  readonly loginThrottle: LoginThrottleSettings;
  readonly passwords: PasswordPolicy;
  readonly invitationDays: number;
  /** Null: logins by identity are verified against the stored hash. */
  readonly pam: PamSettings | null;
  /** Required to create the first account; null: nothing is. */
  readonly setupToken: { readonly given: string } | 'generate' | null;
}

export interface LoginThrottleSettings {
  readonly isOn: boolean;
  /** Failed logins and registrations per address in 5 minutes. */
  readonly addressLimit: number;
}

/** Rules for new passwords, besides a list of common ones. */
export interface PasswordPolicy {
  readonly minCharacters: number;
  /** Whether they need letters of both cases and a digit; the body of POST /standalone-account may override it. */
  readonly strong: boolean;
}

export interface PamSettings {
  /** Name of a PAM service, a file of /etc/pam.d. */
  readonly service: string;
  /** Absolute path of a program to run in place of our own helper. */
  readonly helper: string | null;
}

/**
 * @param deployment - `saas` enables self-service accounts by default
 * @param host - where the API listens: a setup token is required by default unless it is a loopback address
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

function readSetupToken(read: SettingReader, host: string): IdentitySettings['setupToken'] {
  const value = read.get('FLOTILLA_SETUP_TOKEN');
  if (value === null) return isLoopback(host) ? null : 'generate';
  if (value === 'generate') return value;
  return value === 'none' ? null : Object.freeze({ given: value });
}

/** Whether a listener on this host is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host);
}
