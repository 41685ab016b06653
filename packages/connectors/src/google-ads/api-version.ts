/** The API that the Google Ads and Display & Video 360 connectors call. */
export const dataManagerApi = {
  version: 'Data Manager API v1 (release 1.9 of 4 November 2026)',
  ends: 'Google has announced no end of v1, which it extends in numbered releases',
}
