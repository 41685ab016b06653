/** The version of Microsoft Advertising's API that is called. Microsoft has not announced another one. */
export const microsoftApi = { version: 'v13 (Campaign Management, JSON)', ends: 'No end is known.' }
