import type { MaybeOptionalInit } from 'openapi-fetch';
import type { paths } from './schema.generated.ts';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
type Success = 200 | 201 | 204;

type PathsOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends { [K in M]: object } ? P : never;
}[keyof paths];

/** Every type of content that a response can have; undefined without content. */
type ContentOf<R> = R extends { content: infer C } ? C[keyof C] : undefined;

/** What an operation returns. */
export type Data<P extends keyof paths, M extends Method> = paths[P] extends { [K in M]: { responses: infer R } }
  ? { [S in keyof R & Success]: ContentOf<R[S]> }[keyof R & Success]
  : never;

/** Path parameters, query and body are optional where the operation has none that it requires. */
type Init<P extends keyof paths, M extends Method> =
  object extends MaybeOptionalInit<paths[P], M>
    ? [init?: MaybeOptionalInit<paths[P], M>]
    : [init: MaybeOptionalInit<paths[P], M>];

export type Call<M extends Method> = <P extends PathsOf<M>>(
  path: P,
  ...init: Init<P, M>
) => Promise<{ data: Data<P, M>; response: Response }>;

type PageOf<P extends PathsOf<'get'>> = Extract<Data<P, 'get'>, { results: readonly unknown[]; next: unknown }>;

/** Paths of lists. */
export type ListPath = {
  [P in PathsOf<'get'>]: [PageOf<P>] extends [never] ? never : P;
}[PathsOf<'get'>];

/** One page of a list: its rows, and the count of all. */
export type Page<P extends ListPath> = PageOf<P>;

export type Row<P extends ListPath> = Page<P> extends { results: ReadonlyArray<infer R> } ? R : never;

export type ListCall<Result extends 'pages' | 'items'> = <P extends ListPath>(
  path: P,
  ...init: Init<P, 'get'>
) => AsyncIterable<Result extends 'pages' ? Page<P> : Row<P>>;
