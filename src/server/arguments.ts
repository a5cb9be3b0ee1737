import { parseArgs } from 'node:util';
import { ConfigError } from '../process/config.ts';

/** What a process serves. */
export interface ServerRole {
  name: 'api' | 'gateway';
  withApi: boolean;
  withGateway: boolean;
  /** Its parts, for metrics. */
  serves: readonly string[];
}

const OPTIONS = { 'gateway-only': { type: 'boolean' }, 'no-gateway': { type: 'boolean' } } as const;

/** @throws {ConfigError} when the arguments exclude each other */
export function readRole(args: string[]): ServerRole {
  const { values } = parseArgs({ args, options: OPTIONS });
  const { 'gateway-only': gatewayOnly = false, 'no-gateway': withoutGateway = false } = values;
  if (gatewayOnly && withoutGateway) throw new ConfigError(['--gateway-only and --no-gateway exclude each other']);
  const serves = [...(gatewayOnly ? [] : ['api']), ...(withoutGateway ? [] : ['gateway'])];
  return { name: gatewayOnly ? 'gateway' : 'api', withApi: !gatewayOnly, withGateway: !withoutGateway, serves };
}
