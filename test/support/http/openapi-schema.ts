import validators from 'express-openapi-validator/dist/framework/openapi.schema.validator.js';

const { OpenAPISchemaValidator } = validators;
const compiled = new Map<string, InstanceType<typeof OpenAPISchemaValidator>>();

/**
 * express-openapi-validator compiles OpenAPI's own schema for every operation, even when it does not validate the
 * document: most of the processor time of an application in a test. Importing this lets it compile each once.
 */
Object.assign(validators, {
  OpenAPISchemaValidator: function once(options: { version: string; validateApiSpec: boolean }) {
    const key = JSON.stringify(options);
    const validator = compiled.get(key) ?? new OpenAPISchemaValidator(options);
    compiled.set(key, validator);
    return validator;
  },
});
