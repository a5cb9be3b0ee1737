import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from '../../../src/process/config.ts';

describe('loadConfig', () => {
  it('fills the embedded stack with its defaults', () => {
    const config = loadConfig({}, 'stack');
    expect(config).toMatchObject({
      port: 8080,
      databasePort: 5433,
      publicUrl: 'http://127.0.0.1:8080',
      simulatedComputers: 25,
    });
  });

  it('names every wrong setting in one error', () => {
    const bad = { FLOTILLA_PORT: '99999', FLOTILLA_DEPLOYMENT: 'cloud', FLOTILLA_SIMULATED_COMPUTERS: '-1' };
    const load = () => loadConfig(bad, 'stack');
    expect(load).toThrow(ConfigError);
    for (const name of Object.keys(bad)) expect(load).toThrow(name);
  });

  it('requires what a single process cannot create for itself', () => {
    const load = () => loadConfig({}, 'process');
    for (const name of ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'JWT_SECRET', 'ENCRYPTION_KEYS']) {
      expect(load).toThrow(`FLOTILLA_${name} is required`);
    }
  });

  it('creates no administrator for an empty address', () => {
    expect(loadConfig({ FLOTILLA_ADMIN_EMAIL: '' }, 'stack').adminEmail).toBe('');
  });

  it('disables optional identity features by default', () => {
    const { identity, mailFrom, trustedProxies } = loadConfig({}, 'stack');
    expect(identity).toEqual({
      selfServiceAccounts: false,
      loginThrottle: { isOn: true, addressLimit: 100 },
      passwords: { minCharacters: 12, strong: false },
      invitationDays: 14,
      pam: null,
      setupToken: null,
    });
    expect({ mailFrom, trustedProxies }).toEqual({ mailFrom: 'flotilla@localhost', trustedProxies: [] });
    expect(loadConfig({ FLOTILLA_DEPLOYMENT: 'saas' }, 'stack').identity.selfServiceAccounts).toBe(true);
  });

  it('rejects unknown parameters and fields unless set to ignore them', () => {
    expect(loadConfig({}, 'stack').unknownKeys).toBe('refuse');
    expect(loadConfig({ FLOTILLA_UNKNOWN_KEYS: 'ignore' }, 'stack').unknownKeys).toBe('ignore');
    expect(() => loadConfig({ FLOTILLA_UNKNOWN_KEYS: 'maybe' }, 'stack')).toThrow('FLOTILLA_UNKNOWN_KEYS');
  });

  it('reads the identity settings', () => {
    const env = {
      FLOTILLA_PUBLIC_URL: 'https://fleet.example:8443/base',
      FLOTILLA_SELF_SERVICE_ACCOUNTS: 'true',
      FLOTILLA_LOGIN_THROTTLE: 'no',
      FLOTILLA_INVITATION_DAYS: '3',
      FLOTILLA_LOGIN_ADDRESS_LIMIT: '50',
      FLOTILLA_ENFORCE_PASSWORD_STRENGTH: 'true',
      FLOTILLA_PASSWORD_MIN_LENGTH: '20',
      FLOTILLA_PAM_SERVICE: 'fleet',
      FLOTILLA_PAM_HELPER: '/opt/pam',
      FLOTILLA_TRUSTED_PROXIES: '10.0.0.0/8, 2001:db8::1',
    };
    const { identity, mailFrom, trustedProxies } = loadConfig(env, 'stack');
    const pam = { service: 'fleet', helper: '/opt/pam' };
    expect(identity).toEqual({
      selfServiceAccounts: true,
      loginThrottle: { isOn: false, addressLimit: 50 },
      passwords: { minCharacters: 20, strong: true },
      invitationDays: 3,
      pam,
      setupToken: null,
    });
    expect({ mailFrom, trustedProxies }).toEqual({
      mailFrom: 'flotilla@fleet.example',
      trustedProxies: ['10.0.0.0/8', '2001:db8::1'],
    });
    expect(loadConfig({ FLOTILLA_MAIL_FROM: 'a@b.example' }, 'stack').mailFrom).toBe('a@b.example');
  });

  it('rejects wrong identity settings', () => {
    const bad = [
      { FLOTILLA_EVENT_RETENTION_DAYS: '0' },
      { FLOTILLA_EVENT_RETENTION_DAYS: '-2' },
      { FLOTILLA_ACTIVITY_RETENTION_DAYS: '0' },
      { FLOTILLA_ACTIVITY_RETENTION_DAYS: '1.5' },
      { FLOTILLA_PAM_SERVICE: '../shadow' },
      { FLOTILLA_PAM_HELPER: 'relative/program' },
      { FLOTILLA_MAIL_FROM: 'nobody' },
      { FLOTILLA_TRUSTED_PROXIES: 'proxy.example' },
      { FLOTILLA_TRUSTED_PROXIES: '10.0.0.0/33' },
      { FLOTILLA_SELF_SERVICE_ACCOUNTS: 'perhaps' },
      { FLOTILLA_ENFORCE_PASSWORD_STRENGTH: 'on' },
      { FLOTILLA_LOGIN_ADDRESS_LIMIT: '19' },
      { FLOTILLA_INVITATION_DAYS: '0' },
      { FLOTILLA_PASSWORD_MIN_LENGTH: '7' },
      { FLOTILLA_PASSWORD_MIN_LENGTH: '129' },
    ];
    for (const env of bad) expect(() => loadConfig(env, 'stack')).toThrow(Object.keys(env)[0]);
  });
});
