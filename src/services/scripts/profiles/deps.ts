import type { ScriptProfileLimits } from '../../../process/config.ts';
import type { ScriptsDeps } from '../deps.ts';

export interface ScriptProfilesDeps extends ScriptsDeps {
  limits: ScriptProfileLimits;
}
