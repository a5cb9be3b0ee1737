import type { ScriptProfileLimits } from '../../config.ts';
import type { ScriptsDeps } from '../scripts/deps.ts';

export interface ScriptProfilesDeps extends ScriptsDeps {
  limits: ScriptProfileLimits;
}
