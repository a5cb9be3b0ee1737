import * as OpenApiValidator from 'express-openapi-validator';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createApp } from '../../../src/api/app/app.ts';
import { createValidators } from '../../../src/api/http/middleware/validate.ts';
import { eachOperation, loadDocument, type OpenApiDocument } from '../../../src/api/openapi/document.ts';
import { outdatedFiles } from '../../../src/api/openapi/generate.ts';
import { readOperations } from '../../../src/api/http/operations.ts';
import { createLogger } from '../../../src/process/logger.ts';
import { createTestApp, JWT_SECRET, type TestApp } from '../../support/http/app.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { compileSchemas } from '../../support/http/validators.ts';

let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  database = await createTestDatabase();
  app = await createTestApp(database.persistence);
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const document = (): OpenApiDocument => structuredClone(loadDocument());

/** @throws when it does not fit the schema of OpenAPI */
async function validateAsOpenApi(of: OpenApiDocument): Promise<void> {
  const apiSpec = of as unknown as Parameters<typeof OpenApiValidator.middleware>[0]['apiSpec'];
  const [load] = OpenApiValidator.middleware({ apiSpec });
  const request = { app: { param: () => undefined } } as never;
  await new Promise<void>((resolve, reject) => {
    void load!(request, {} as never, (error?: unknown) => (error ? reject(error as Error) : resolve()));
  });
}

describe('the OpenAPI document', () => {
  it('fits the generated types', async () => {
    expect(await outdatedFiles()).toEqual([]);
  });

  it('describes every operation with tags, a summary and a success response', () => {
    const tags = (loadDocument()['tags'] as Array<{ name: string }>).map(({ name }) => name);
    for (const { operation } of eachOperation(loadDocument())) {
      expect(operation.summary).toBeTruthy();
      expect(tags).toEqual(expect.arrayContaining(operation.tags));
      expect(Object.keys(operation.responses).some((status) => status.startsWith('2'))).toBe(true);
      expect(operation.responses).not.toHaveProperty('default');
    }
  });

  it('requires a token for every operation but logins and the standalone account', async () => {
    const open = [
      'login',
      'loginByAccessKey',
      'getLoginMethods',
      'getStandaloneAccount',
      'createStandaloneAccount',
      'getInvitationSummary',
    ];
    for (const { path, method, operation } of eachOperation(loadDocument())) {
      if (open.includes(operation.operationId)) continue;
      const sample = path.replace(/\{\w+_id\}/g, '1').replace(/\{\w+\}/g, 'x');
      const result = await app.call(method.toUpperCase(), sample, method === 'get' ? {} : { body: {} });
      expect(result.body, operation.operationId).toMatchObject({ error: 'Unauthorized', code: 401 });
    }
  });

  it('rejects an operation without permission, and two with one id', () => {
    const doc = document();
    doc.paths['/person']!.get!.operationId = 'login';
    expect(() => readOperations(doc)).toThrow('an operationId is used twice or missing');
    doc.paths['/person']!.get!['x-permission'] = 'FlyToTheMoon';
    expect(() => readOperations(doc)).toThrow('login has no valid x-permission');
  });

  it('is valid OpenAPI', async () => {
    await expect(validateAsOpenApi(document())).resolves.toBeUndefined();
    const doc = document();
    doc.paths['/person']!.get!.responses = { ok: {} };
    const reported = vi.spyOn(console, 'error').mockReturnValue();
    await expect(validateAsOpenApi(doc)).rejects.toThrow('args.apiDoc was invalid');
    reported.mockRestore();
  });

  it('has valid schemas', async () => {
    await compileSchemas();
    const doc = document();
    doc.components.schemas.PersonEdit = { type: 'object', properties: { name: { type: 'string', pattern: '[' } } };
    const broken = createValidators(doc, readOperations(doc));
    await expect(compileSchemas(doc, broken)).rejects.toThrow('Invalid regular expression');
  }, 120_000);

  it('has a route for every operation, and none shadows another', async () => {
    const ended: string[] = [];
    const other = await createTestApp(database.persistence, { onRequestEnd: (operation) => ended.push(operation) });
    const operations = eachOperation(loadDocument());
    for (const { path, method } of operations) {
      const sample = path.replace(/\{\w+_id\}/g, '1').replace(/\{\w+\}/g, 'x');
      await other.call(method.toUpperCase(), sample, method === 'get' ? {} : { body: {} });
    }
    await other.close();
    expect(ended).toEqual(operations.map(({ operation }) => operation.operationId));
  });

  it('detects a response that does not match', async () => {
    const services = { ...app.services };
    services.accounts = { ...services.accounts, standaloneExists: async () => 'maybe' as unknown as boolean };
    const logger = createLogger({ level: 'silent', role: 'test' });
    const deps = {
      services,
      logger,
      publicUrl: 'http://x',
      deployment: 'standalone' as const,
      validateResponses: true,
    };
    const broken = createApp(deps);
    const server = broken.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const response = await fetch(`http://127.0.0.1:${port}/api/v2/standalone-account`);
    expect(response.status).toBe(500);
    const body = (await response.json()) as { error: string; message: string };
    expect(body.error).toBe('InternalError');
    expect(body.message).toContain(response.headers.get('x-request-id'));
    expect(JSON.stringify(body)).not.toContain(JWT_SECRET);
    server.closeAllConnections();
    server.close();
  });
});
