import { UnderscoreNamingStrategy } from '@mikro-orm/core';
import type { SnakeCase } from '@mikro-orm/postgresql';

/** The columns of properties of an entity, as agents report them: only those present change. */
export type Reported<Properties extends Record<string, { '~type'?: { value: unknown }; '~options': object }>> = {
  [Name in keyof Properties & string as SnakeCase<Name>]?: Value<Properties[Name]>;
};

type Value<Property> = Property extends { '~type'?: { value: infer Type }; '~options': infer Options }
  ? Type | (Options extends { nullable: true } ? null : never)
  : never;

const names = new UnderscoreNamingStrategy();

/** Names of the columns of properties. */
export function columnsOf(properties: Record<string, unknown>): string[] {
  return Object.keys(properties).map((name) => names.propertyToColumnName(name));
}
