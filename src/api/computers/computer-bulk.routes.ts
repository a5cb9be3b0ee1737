import type { Router } from 'express';
import type { Services } from '../../services/setup/services.ts';
import { readActingQuery } from '../activities/request-fields.ts';
import type { Handler, ServeOperation } from '../http/handler.ts';
import { createRouter } from '../http/router.ts';

export function computerBulkRoutes(deps: {
  operation: ServeOperation;
  services: Pick<Services, 'computerBulk'>;
}): Router {
  const { operation } = deps;
  const { computerBulk } = deps.services;
  const addComputerTags: Handler<'addComputerTags'> = async ({ caller, body }) => {
    const { tags, ...query } = body;
    return { body: await computerBulk.addTags(caller, readActingQuery(query), tags) };
  };
  const removeComputerTags: Handler<'removeComputerTags'> = async ({ caller, body }) => {
    const { tags, ...query } = body;
    return { body: await computerBulk.removeTags(caller, readActingQuery(query), tags) };
  };
  const annotateComputers: Handler<'annotateComputers'> = async ({ caller, body }) => {
    const { key, value, ...query } = body;
    return { body: await computerBulk.annotate(caller, readActingQuery(query), { key, value }) };
  };
  const removeComputerAnnotation: Handler<'removeComputerAnnotation'> = async ({ caller, body }) => {
    const { key, ...query } = body;
    return { body: await computerBulk.removeAnnotation(caller, readActingQuery(query), key) };
  };
  const changeComputerAccessGroup: Handler<'changeComputerAccessGroup'> = async ({ caller, body }) => {
    const { access_group, ...query } = body;
    return { body: await computerBulk.changeAccessGroup(caller, readActingQuery(query), access_group) };
  };
  return createRouter()
    .post('/computers\\:add-tags', operation('addComputerTags', addComputerTags))
    .post('/computers\\:remove-tags', operation('removeComputerTags', removeComputerTags))
    .post('/computers\\:annotate', operation('annotateComputers', annotateComputers))
    .post('/computers\\:remove-annotation', operation('removeComputerAnnotation', removeComputerAnnotation))
    .post('/computers\\:change-access-group', operation('changeComputerAccessGroup', changeComputerAccessGroup));
}
