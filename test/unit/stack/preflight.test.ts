import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/process/config.ts';
import { checkPorts } from '../../../tools/stack/preflight.ts';

describe('checkPorts', () => {
  it('names the setting of metrics that would take the port of something else', async () => {
    const config = loadConfig({ FLOTILLA_PORT: '45681', FLOTILLA_METRICS_PORT: '45681' }, 'stack');
    await expect(checkPorts(config)).rejects.toThrow(/FLOTILLA_METRICS_PORT: port 45681 is also FLOTILLA_PORT/);
  });

  it('names every setting whose port is given twice', async () => {
    const config = loadConfig(
      {
        FLOTILLA_PORT: '45671',
        FLOTILLA_TEMPORAL_PORT: '45671',
        FLOTILLA_TEMPORAL_UI_PORT: '45671',
        FLOTILLA_DATABASE_PORT: '45673',
      },
      'stack',
    );
    await expect(checkPorts(config)).rejects.toThrow(
      /FLOTILLA_TEMPORAL_PORT: port 45671 is also FLOTILLA_PORT[\s\S]*FLOTILLA_TEMPORAL_UI_PORT/,
    );
  });
});
