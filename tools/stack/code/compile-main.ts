import { compileCode } from './compile.ts';

/** `compile-main.ts FOLDER`: compiles the code of a stack's processes. */
await compileCode(process.argv[2]!);
