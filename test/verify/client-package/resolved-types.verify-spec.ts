import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { ClientProject } from '../../e2e/client-project.js';

describe('the published client', () => {
  it('has types that are right for every way of resolving them', async () => {
    const project = await ClientProject.installed([]);
    try {
      const result = await checkPackage(createPackageFromTarballData(new Uint8Array(await project.tarball)));
      expect('problems' in result && result.problems).toEqual([]);
      expect('entrypoints' in result && Object.keys(result.entrypoints)).toEqual(
        expect.arrayContaining(['.', './file-token', './nest', './testing']),
      );
    } finally {
      await project.remove();
    }
  });
});
