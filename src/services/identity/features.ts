import type { Config } from '../../process/config.ts';

export interface Feature {
  key: string;
  name: string;
  description: string;
  enabled: boolean;
}

/** The features, by key, the same for all accounts. @see docs/api-conventions.md#deployment-settings */
export function listFeatures(settings: Pick<Config, 'deployment' | 'identity' | 'smtpUrl'>): readonly Feature[] {
  return [
    {
      key: 'employee-management',
      name: 'Employee management',
      description: 'Computers are handed to employees',
      enabled: false,
    },
    {
      key: 'mail',
      name: 'Mail',
      description: 'Invitations and test mails go out',
      enabled: settings.smtpUrl !== null,
    },
    {
      key: 'oidc-configuration',
      name: 'OpenID Connect',
      description: 'Logins by way of an identity provider',
      enabled: false,
    },
    {
      key: 'pam-login',
      name: 'PAM logins',
      description: 'Logins by identity are checked by PAM',
      enabled: settings.identity.pam !== null,
    },
    {
      key: 'script-profiles',
      name: 'Script profiles',
      description: 'Scripts run on an event, at one time or on a schedule',
      enabled: settings.deployment === 'standalone',
    },
    {
      key: 'self-service-account-creation',
      name: 'Self-service accounts',
      description: 'People make accounts for themselves',
      enabled: settings.identity.selfServiceAccounts,
    },
    {
      key: 'usg-profiles',
      name: 'USG profiles',
      description: 'Compliance is audited and fixed on a schedule',
      enabled: true,
    },
    {
      key: 'wsl-child-instance-profiles',
      name: 'WSL profiles',
      description: 'Profiles make and configure WSL instances on Windows hosts',
      enabled: false,
    },
  ];
}
