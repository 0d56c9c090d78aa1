import { exceptIn, type Lacking, part, withWhatWasMeant } from './lacking.js';
import { BrokerSettings } from './settings/broker-settings.js';
import { EgressDocument } from './settings/egress-settings.js';

const atFault = (path: string): Lacking => ({ path, lack: { setting: path } });

describe('a part of a configuration', () => {
  it.each([
    ['it is at fault itself', 'store'],
    ['a setting within it is', 'store.url'],
    ['an item within it is', 'store.sentinels[1]'],
  ])('is not known where %s', (_where, path) => {
    expect(part([atFault(path)], 'store', () => 'read')).toEqual({ lacks: [{ setting: path }] });
  });

  it('is not known where something around it is at fault', () => {
    for (const path of ['merchants', 'merchants[1]', 'merchants[1].gateway']) {
      expect(part([atFault(path)], 'merchants[1].gateway', () => 'read')).toEqual({ lacks: [{ setting: path }] });
    }
  });

  it('is read where only something beside it is at fault, however alike the names', () => {
    const beside = ['storefront', 'store2', 'merchants[1]', 'http.store'].map(atFault);
    expect(part(beside, 'store', () => 'read')).toEqual({ known: 'read' });
    expect(part([atFault('merchants[1]')], 'merchants[11]', () => 'read')).toEqual({ known: 'read' });
  });

  it('may do without some of its members', () => {
    const lacking = [atFault('store.onStoreOutage'), atFault('store.url')];
    expect(exceptIn(lacking, 'store', ['onStoreOutage'])).toEqual([atFault('store.url')]);
    expect(exceptIn([atFault('store')], 'store', ['onStoreOutage'])).toEqual([atFault('store')]);
  });
});

describe('a name that is no setting', () => {
  const meant = (path: string, written: readonly string[], settings: new () => object = BrokerSettings): string[] =>
    withWhatWasMeant([atFault(path)], { settings, isWritten: (each) => written.includes(each) }).map((each) => {
      expect(each.lack).toEqual({ setting: path });
      return each.path;
    });

  it('stands for the setting with nearly the same name', () => {
    expect(meant('stroe', ['http'])).toEqual(['stroe', 'store']);
    expect(meant('egress.aliasKeyFile', [], EgressDocument)).toEqual(['egress.aliasKeyFile', 'egress.aliasKeyFiles']);
  });

  it('may stand for any that is not written where none has nearly the same name', () => {
    const written = ['http', 'management', 'auth', 'audit', 'log', 'merchants'];
    expect(meant('redis', written)).toEqual(['redis', 'store', 'reload']);
    expect(meant('(key)', written)).toEqual(['(key)', 'store', 'reload']);
  });

  it('may belong into a section beside it that has one of that name', () => {
    const written = ['id', 'serviceCode', 'serviceCodeFile', 'clientKeyFiles', 'required', 'gateway', 'session'];
    expect(
      meant(
        'merchants[3].proxy',
        written.map((name) => `merchants[3].${name}`),
      ),
    ).toEqual(['merchants[3].proxy', 'merchants[3].gateway.proxy']);
  });

  it.each(['store.url', 'merchants[0]', 'merchants[0].gateway.timeout', 'stroe.url', 'http.hosts[0]'])(
    'is not what a setting is, nor what stands in no section: %s',
    (path) => {
      expect(meant(path, [])).toEqual([path]);
    },
  );
});
