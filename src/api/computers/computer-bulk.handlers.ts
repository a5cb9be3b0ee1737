import { readActingQuery } from '../activities/request-fields.ts';
import type { Handlers, Services } from '../http/handler.ts';

export function computerBulkHandlers({ computerBulk }: Services) {
  return {
    addComputerTags: ({ caller, body }) => computerBulk.addTags(caller, readActingQuery(body), body.tags),
    removeComputerTags: ({ caller, body }) => computerBulk.removeTags(caller, readActingQuery(body), body.tags),
    annotateComputers: ({ caller, body }) =>
      computerBulk.annotate(caller, readActingQuery(body), { key: body.key, value: body.value }),
    removeComputerAnnotation: ({ caller, body }) =>
      computerBulk.removeAnnotation(caller, readActingQuery(body), body.key),
    changeComputerAccessGroup: ({ caller, body }) =>
      computerBulk.changeAccessGroup(caller, readActingQuery(body), body.access_group),
  } satisfies Handlers;
}
