import { EventEmitter } from 'node:events';
import type { FastifyReply } from 'fastify';
import { RequestLife } from './request-life.js';

class Response extends EventEmitter {
  closed = false;
  writableFinished = false;

  send(): void {
    this.writableFinished = true;
    this.close();
  }

  close(): void {
    this.closed = true;
    this.emit('close');
  }
}

describe('the life of a request', () => {
  const replyOf = (raw: Response): FastifyReply => ({ raw }) as unknown as FastifyReply;

  it('ends when its caller goes away, and no other request ends with it', () => {
    const life = new RequestLife();
    const [one, other] = [new Response(), new Response()];
    const [ofOne, ofOther] = [life.signalFor(replyOf(one)), life.signalFor(replyOf(other))];
    one.close();
    expect([ofOne.aborted, ofOther.aborted]).toEqual([true, false]);
  });

  it('is over when its answer was sent, and neither that nor a shutdown aborts anything any more', () => {
    const life = new RequestLife();
    const sent = new Response();
    const signal = life.signalFor(replyOf(sent));
    sent.send();
    life.shutDown();
    expect(signal.aborted).toBe(false);
  });

  it('has ended where its caller went away before anybody looked', () => {
    const gone = new Response();
    gone.close();
    expect(new RequestLife().signalFor(replyOf(gone)).aborted).toBe(true);
    expect(gone.listenerCount('close')).toBe(0);
  });

  it('ends when the replica shuts down, also for one that comes after that', () => {
    const life = new RequestLife();
    const waiting = life.signalFor(replyOf(new Response()));
    const told: string[] = [];
    life.onShutDown(() => told.push('shut down'));
    life.shutDown();
    expect([waiting.aborted, life.signalFor(replyOf(new Response())).aborted, told]).toEqual([
      true,
      true,
      ['shut down'],
    ]);
  });
});
