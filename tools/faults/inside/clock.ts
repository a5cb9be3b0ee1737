const Real = globalThis.Date;
let offsetMs = 0;

const now = (): number => Real.now() + offsetMs;

const Shifted = new Proxy(Real, {
  construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [now()] : args, self) as object,
  apply: () => new Real(now()).toString(),
  get: (target, key, self) => (key === 'now' ? now : (Reflect.get(target, key, self) as unknown)),
});

/** Shifts this process's clock; timers keep their pace, as after a step of a real clock. */
export function shiftClock(ms: number): void {
  offsetMs = ms;
  globalThis.Date = ms === 0 ? Real : Shifted;
}
