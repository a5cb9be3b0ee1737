import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from '../../src/config.ts';

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

  it('requires what a single process cannot make for itself', () => {
    const load = () => loadConfig({}, 'process');
    for (const name of ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'JWT_SECRET', 'ENCRYPTION_KEYS']) {
      expect(load).toThrow(`FLOTILLA_${name} is required`);
    }
  });

  it('takes an empty administrator address as a wish for none', () => {
    expect(loadConfig({ FLOTILLA_ADMIN_EMAIL: '' }, 'stack').adminEmail).toBe('');
  });
});
