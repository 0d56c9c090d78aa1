import { concerns, type Fault, type FaultKind, type Whom } from './scenario.js';

type FaultOf<Kind extends FaultKind> = Extract<Fault, { kind: Kind }>;

/** The faults that are going on at the moment. */
export class Weather {
  readonly #active = new Set<Fault>();

  begin(fault: Fault): void {
    this.#active.add(fault);
  }

  end(fault: Fault): void {
    this.#active.delete(fault);
  }

  of<Kind extends FaultKind>(kind: Kind): readonly FaultOf<Kind>[] {
    return [...this.#active].filter((fault): fault is FaultOf<Kind> => fault.kind === kind);
  }

  concerning(merchant: string): boolean {
    return [...this.#active].some((fault) => concerns(fault, merchant));
  }
}

/** Whether a fault of `whom` affects this replica. */
export const befalls = (whom: Whom, replica: number): boolean => whom === 'all' || whom === replica;
