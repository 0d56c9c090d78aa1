const text = { type: 'string', minLength: 1 };
const id = { type: 'string', pattern: '^SPDXRef-[A-Za-z0-9.-]+$' };
const list = (items: object): object => ({ type: 'array', minItems: 1, items });
const record = (properties: Readonly<Record<string, object>>): object => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
});

/**
 * What SPDX 2.3 requires of a JSON document (clauses 6, 7 and 11) that lists packages and no files. No package in the
 * registry has the published schema.
 */
export const spdxSchema = record({
  spdxVersion: { const: 'SPDX-2.3' },
  dataLicense: { const: 'CC0-1.0' },
  SPDXID: { const: 'SPDXRef-DOCUMENT' },
  name: text,
  documentNamespace: { type: 'string', pattern: '^https?://[^#]+$' },
  creationInfo: record({
    created: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$' },
    creators: list({ type: 'string', pattern: '^(?:Person|Organization|Tool): .' }),
  }),
  documentDescribes: list(id),
  packages: list(
    record({
      SPDXID: id,
      name: text,
      versionInfo: text,
      downloadLocation: text,
      filesAnalyzed: { const: false },
      licenseDeclared: text,
      externalRefs: list(
        record({
          referenceCategory: { const: 'PACKAGE-MANAGER' },
          referenceType: { const: 'purl' },
          referenceLocator: { type: 'string', pattern: '^pkg:npm/' },
        }),
      ),
    }),
  ),
  relationships: list(
    record({
      spdxElementId: id,
      relatedSpdxElement: id,
      relationshipType: {
        enum: [
          'DESCRIBES',
          'DEPENDS_ON',
          'DEPENDENCY_OF',
          'DEV_DEPENDENCY_OF',
          'OPTIONAL_DEPENDENCY_OF',
          'PREREQUISITE_FOR',
        ],
      },
    }),
  ),
});
