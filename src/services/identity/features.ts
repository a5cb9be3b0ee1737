import type { Config } from '../../process/config.ts';

export interface Feature {
  key: string;
  name: string;
  description: string;
  enabled: boolean;
}

/** The features, by key, the same for all accounts. @see docs/api-conventions.md#deployment-settings */
export function listFeatures(settings: Pick<Config, 'deployment' | 'identity' | 'smtpUrl'>): readonly Feature[] {
  const { deployment, identity, smtpUrl } = settings;
  const feature = (key: string, name: string, description: string, enabled: boolean) => {
    return { key, name, description, enabled };
  };
  const profiles = deployment === 'standalone';
  return [
    feature('employee-management', 'Employee management', 'Computers are handed to employees', false),
    feature('mail', 'Mail', 'Invitations and test mails go out', smtpUrl !== null),
    feature('oidc-configuration', 'OpenID Connect', 'Logins by way of an identity provider', false),
    feature('pam-login', 'PAM logins', 'Logins by identity are checked by PAM', identity.pam !== null),
    feature('script-profiles', 'Script profiles', 'Scripts run on an event, at one time or on a schedule', profiles),
    feature(
      'self-service-account-creation',
      'Self-service accounts',
      'People make accounts for themselves',
      identity.selfServiceAccounts,
    ),
    feature('usg-profiles', 'USG profiles', 'Compliance is audited and fixed on a schedule', true),
    feature(
      'wsl-child-instance-profiles',
      'WSL profiles',
      'Profiles make and configure WSL instances on Windows hosts',
      false,
    ),
  ];
}
