import type { Router } from 'express';
import { readActingQuery } from '../activities/request-fields.ts';
import { createRouter, type Handler, type RouteDeps } from '../http/handler.ts';

export function computerBulkRoutes({ operation, services: { computerBulk } }: RouteDeps): Router {
  const addComputerTags: Handler<'addComputerTags'> = ({ caller, body }) =>
    computerBulk.addTags(caller, readActingQuery(body), body.tags);
  const removeComputerTags: Handler<'removeComputerTags'> = ({ caller, body }) =>
    computerBulk.removeTags(caller, readActingQuery(body), body.tags);
  const annotateComputers: Handler<'annotateComputers'> = ({ caller, body }) =>
    computerBulk.annotate(caller, readActingQuery(body), { key: body.key, value: body.value });
  const removeComputerAnnotation: Handler<'removeComputerAnnotation'> = ({ caller, body }) =>
    computerBulk.removeAnnotation(caller, readActingQuery(body), body.key);
  const changeComputerAccessGroup: Handler<'changeComputerAccessGroup'> = ({ caller, body }) =>
    computerBulk.changeAccessGroup(caller, readActingQuery(body), body.access_group);
  return createRouter()
    .post('/computers\\:add-tags', operation('addComputerTags', addComputerTags))
    .post('/computers\\:remove-tags', operation('removeComputerTags', removeComputerTags))
    .post('/computers\\:annotate', operation('annotateComputers', annotateComputers))
    .post('/computers\\:remove-annotation', operation('removeComputerAnnotation', removeComputerAnnotation))
    .post('/computers\\:change-access-group', operation('changeComputerAccessGroup', changeComputerAccessGroup));
}
