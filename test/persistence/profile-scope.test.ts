import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
