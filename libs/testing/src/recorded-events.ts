import type { SessionEvent, SessionEvents } from '#libs/session';

type Named<Name extends SessionEvent['event']> = Extract<SessionEvent, { event: Name }>;

/** Keeps every event, in order. */
export class RecordedEvents implements SessionEvents {
  readonly all: SessionEvent[] = [];

  emit(event: SessionEvent): void {
    this.all.push(event);
  }

  of<Name extends SessionEvent['event']>(name: Name): readonly Named<Name>[] {
    return this.all.filter((event): event is Named<Name> => event.event === name);
  }
}
